/**
 * Recovery of effects whose owner died. Only processes that execute do this; a command that merely decides never does.
 */
import { takeOver } from "../core/action/recover.ts";
import type { ActionIn, LiveAction } from "../core/action/state.ts";
import { actionStream } from "../core/stream.ts";
import type { ViewRow } from "../stores/store.ts";
import { endIfDead } from "./epoch.ts";
import { perform } from "./perform.ts";
import { readState } from "./read-state.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";
import type { Tool } from "./tool.ts";

/** The view that lists actions by phase; its rows name the epoch of a running effect. */
const ACTIONS = "actions";
const PAGE = 200;

export type Recovered = { readonly retried: number; readonly inDoubt: number; readonly left: number };

async function runningActions(runtime: Runtime): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const after = last === undefined ? {} : { after: { at: last.at, stream: `action/${last.stream.id}` } };
    const page = await runtime.store.query(runtime.tenant, {
      view: ACTIONS,
      bucket: "running",
      limit: PAGE,
      ...after,
    });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** The tool, if this process has the very one that the action was proposed for. */
function toolFor(runtime: Runtime, state: LiveAction): Tool | "changed" | null {
  const tool = runtime.tools.get(state.tool);
  if (tool === undefined) return null;
  const isSame = tool.rules.schemaDigest === state.schema && tool.rules.effectClass === state.effectClass;
  return isSame ? tool : "changed";
}

/** An effect of our own that nobody performs and that was never sent: its start had been answered with an error. */
async function performOwn(
  runtime: Runtime,
  tool: Tool,
  action: string,
  state: ActionIn<"running">,
): Promise<"retry" | "left"> {
  if (runtime.sent.has(`${action}#${state.effect.attempt}`)) return "left";
  await perform(runtime, tool, action);
  return "retry";
}

/** Takes over one action's effect if its owner is dead; performs it again where its class allows. */
export async function recoverAction(
  runtime: Runtime,
  action: string,
): Promise<"retry" | "in_doubt" | "left"> {
  const state = await readState(runtime, actionStream(action));
  if (state.phase !== "running" || runtime.performing.has(action)) return "left";
  const own = await runtime.epoch();
  const known = toolFor(runtime, state);
  if (state.effect.epoch === own.id)
    return known === null || known === "changed" ? "left" : performOwn(runtime, known, action, state);
  if (!(await endIfDead(runtime, state.effect.epoch, own.id))) return "left";
  await runtime.reach("before_recover");
  const command = {
    action,
    epoch: own.id,
    reason: "its owner died before an outcome was recorded",
    tool: known === null || known === "changed" ? known : known.rules,
  };
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    takeOver(draft, command),
  );
  await runtime.reach("after_recover");
  if (answer.kind === "retry" && known !== null && known !== "changed") await perform(runtime, known, action);
  if (answer.kind === "in_doubt" && answer.state.phase === "in_doubt") {
    const { effect, outcome } = answer.state;
    runtime.notify({ kind: "in_doubt", action, effect: effect.id, tool: state.tool, reason: outcome.reason });
  }
  return answer.kind;
}

/** Looks at every running effect of other epochs. Epochs are asked about once each. */
export async function recoverDead(runtime: Runtime): Promise<Recovered> {
  const own = await runtime.epoch();
  const alive = new Set<string>();
  const count = { retried: 0, inDoubt: 0, left: 0 };
  for (const row of await runningActions(runtime)) {
    const epoch = String(row.data["epoch"]);
    if (alive.has(epoch)) continue;
    if (epoch !== own.id && !(await endIfDead(runtime, epoch, own.id))) {
      alive.add(epoch);
      continue;
    }
    const what = await recoverAction(runtime, row.stream.id);
    if (what === "retry") count.retried++;
    else if (what === "in_doubt") count.inDoubt++;
    else count.left++;
  }
  return count;
}
