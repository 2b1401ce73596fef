/** Workflows that wait for everything that a definition can wait for, none of which a process runs. */
import { until } from "../../fixtures/until.ts";
import { WAITS } from "./definitions.ts";
import type { Leaving } from "./leave-approvals.ts";

type Wait = { readonly kind: string; readonly on: string };

const resting = ({ hp }: Leaving, id: string, kind?: string): Promise<Wait> =>
  until(async () => {
    const { runner, waits } = await hp.workflows.get(id);
    const [wait] = waits;
    return runner === null && wait !== undefined && (kind ?? wait.kind) === wait.kind ? wait : undefined;
  }, `the workflow ${id} to wait`);

export async function leaveErrands(leaving: Leaving): Promise<readonly string[]> {
  const { errand } = leaving.tools;
  const ids: string[] = [];
  for (const [n, wait] of WAITS.entries())
    ids.push((await errand.start({ n, wait }, { requestId: `errand ${n}` })).id);
  for (const id of ids) {
    const { kind, on } = await resting(leaving, id);
    if (kind === "child") await resting(leaving, on);
  }
  return ids;
}

/** One in the middle of a rollback, which asks before it undoes; and one that waits for an agent's answer. */
export async function leaveMoreWorkflows(leaving: Leaving) {
  const { hp, tools } = leaving;
  const awaiting = await tools.awaiting.start({}, { requestId: "awaiting" });
  await resting(leaving, awaiting.id);
  const [intent] = (await hp.intents.list({ from: "agent:writer" })).items;
  const undoing = await tools.undoing.start({}, { requestId: "undoing" });
  const { on } = await resting(leaving, undoing.id, "checkpoint");
  await hp.approvals.reject(on, { by: "person:ann", reason: "another one" });
  const undo = await resting(leaving, undoing.id, "approval");
  return {
    awaiting: { id: awaiting.id, intent: String(intent?.id) },
    undoing: { id: undoing.id, approval: undo.on },
  };
}
