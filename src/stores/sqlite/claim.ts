/** Hands out what is due, each row to one caller until its lease is over. Where nothing is due, nothing is written. */
import type { ViewClaim, ViewRow } from "../store.ts";
import type { Writer } from "./group-commit.ts";
import { inTransaction } from "./in-transaction.ts";
import type { Journal } from "./journal.ts";

export async function claim(
  { journal, writer }: { journal: Journal; writer: Writer },
  tid: number,
  asked: ViewClaim,
): Promise<readonly ViewRow[]> {
  const { db, views, clock } = journal;
  if (views.free(tid, asked, clock.now()).length === 0) return [];
  return inTransaction(writer, () => {
    const now = clock.now();
    const free = views.free(tid, asked, now);
    db.prepare("DELETE FROM hp_claims WHERE until <= ?").run(now);
    const insert = db.prepare("INSERT OR REPLACE INTO hp_claims (view, sid, until) VALUES (?, ?, ?)");
    for (const { sid } of free) insert.run(asked.view, sid, now + asked.leaseMs);
    return free.map(({ row }) => row);
  });
}
