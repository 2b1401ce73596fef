/** Announces effects that agents perform themselves and of which nobody has said in time what became of them. */
import { passReportTime } from "../../effects/rules/permit.ts";
import { actionStream } from "../../kernel/stream.ts";
import { forEachReadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";

const MOST_AT_ONCE = 200;
/** Of several processes one announces each; if it dies, another one does after this time. */
const LEASE_MS = 10_000;

export async function sweepReports(
  runtime: Pick<Runtime, "store" | "tenant" | "clock" | "notify">,
): Promise<number> {
  const due = { view: "actions", bucket: "running", dueBy: runtime.clock.now(), limit: MOST_AT_ONCE };
  let overdue = 0;
  const rows = await runtime.store.claim(runtime.tenant, { ...due, leaseMs: LEASE_MS });
  await forEachReadable(rows, async ({ stream: { id: action } }) => {
    const { kind, state } = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
      passReportTime(draft, action),
    );
    if (kind !== "overdue") return;
    overdue++;
    if (state.phase !== "in_doubt") return;
    const { effect, outcome, tool } = state;
    runtime.notify({ kind: "in_doubt", action, effect: effect.id, tool, reason: outcome.reason });
  });
  return overdue;
}
