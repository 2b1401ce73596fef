import type { Seal, SealDraft } from "../../journal/seal.ts";
import type { Writer } from "./group-commit.ts";
import type { Journal } from "./journal.ts";
import { readMeta } from "./migrations.ts";

export function seal(
  { journal, writer }: { journal: Journal; writer: Writer },
  tenant: string,
  sign: (draft: SealDraft) => Seal,
): Promise<Seal | undefined> {
  const { db, tenants, clock, seals } = journal;
  return new Promise((resolve, refuse) => {
    const prepare = () => {
      const tid = tenants.find(tenant);
      const incarnation = readMeta(db, "incarnation") ?? "";
      const signed =
        tid === undefined ? undefined : seals.sign({ tid, tenant, incarnation, now: clock.now() }, sign);
      return { write: () => signed?.keep(), answer: () => resolve(signed?.seal) };
    };
    writer.submit({ prepare, refuse });
  });
}
