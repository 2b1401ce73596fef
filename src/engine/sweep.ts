/**
 * Announces approvals whose deadline or half time has come, and reminds people. It decides nothing: a late vote is refused
 * with or without it.
 */
import { announceDue } from "../approvals/rules/end.ts";
import { approvalStream } from "../kernel/stream.ts";
import { forEach } from "./left-alone.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";

const APPROVALS = "approvals";
const MOST_AT_ONCE = 200;
/** Of several processes one announces each; if it dies, another one does after this time. */
const LEASE_MS = 10_000;

export async function sweepExpired(
  runtime: Pick<Runtime, "store" | "tenant" | "clock" | "notify">,
): Promise<number> {
  const due = {
    view: APPROVALS,
    bucket: "pending",
    dueBy: runtime.clock.now(),
    limit: MOST_AT_ONCE,
    leaseMs: LEASE_MS,
  };
  let expired = 0;
  await forEach(await runtime.store.claim(runtime.tenant, due), async ({ stream: { id } }) => {
    const answer = await runCommand(runtime, { write: [approvalStream(id)] }, (draft) =>
      announceDue(draft, id),
    );
    if (answer.kind === "ended") expired++;
    if (answer.kind === "reminded") {
      const { action, tool, why, decideBy } = answer;
      runtime.notify({ kind: "reminder", approval: id, action, tool, why, decideBy });
    }
  });
  return expired;
}
