/** Announces approvals whose deadline has passed. It decides nothing: a late vote is refused with or without it. */
import { expireIfDue } from "../core/approval/end.ts";
import { approvalStream } from "../core/stream.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";

const APPROVALS = "approvals";
const MOST_AT_ONCE = 200;
/** Of several processes one announces each; if it dies, another one does after this time. */
const LEASE_MS = 10_000;

export async function sweepExpired(runtime: Pick<Runtime, "store" | "tenant" | "clock">): Promise<number> {
  const due = {
    view: APPROVALS,
    bucket: "pending",
    dueBy: runtime.clock.now(),
    limit: MOST_AT_ONCE,
    leaseMs: LEASE_MS,
  };
  let expired = 0;
  for (const row of await runtime.store.claim(runtime.tenant, due)) {
    const id = row.stream.id;
    const answer = await runCommand(runtime, { write: [approvalStream(id)] }, (draft) =>
      expireIfDue(draft, id),
    );
    if (answer.kind === "ended") expired++;
  }
  return expired;
}
