/** A new workflow whose beginning is another's, up to a checkpoint. */

import type { Creation } from "../../core/workflow/create.ts";
import type { Fork } from "../../core/workflow/events.ts";
import { forkWorkflow } from "../../core/workflow/fork.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { actionStream, workflowStream } from "../../kernel/stream.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";

import { termsOf } from "./create.ts";
import { loadBorrowed, openIn } from "./open-run.ts";
import { emptyTable, type RecordedOp } from "./recorded.ts";
import { workflowState } from "./workflows.ts";

function refuse(fork: Fork, why: string, next: string): never {
  const what = `The workflow ${fork.workflow} cannot be forked at "${fork.checkpoint}": ${why}.`;
  throw new HoldpointError("wrong_state", what, { next });
}

/** Something may have been done already that the fork would do again. */
async function isUnderWay(runtime: Runtime, { kind, body }: RecordedOp): Promise<boolean> {
  if (kind !== "call") return kind === "child";
  const { phase } = await readState(runtime, actionStream(String(body["action"])));
  return phase === "running" || phase === "in_doubt";
}

/** What waits for people is asked for again in the fork; what is under way would never come to an end there. */
async function checkSettled(runtime: Runtime, fork: Fork): Promise<void> {
  const table = emptyTable();
  await loadBorrowed(runtime, table, fork);
  for (const open of openIn(table))
    if (await isUnderWay(runtime, open))
      refuse(
        fork,
        `the ${open.kind} ${open.op} was begun before it and has not ended`,
        "Fork it when that has ended, or at a checkpoint before it.",
      );
}

function forkOf(id: string, state: LiveWorkflow, at: string): Fork {
  const found = state.passed.findLast(({ name, op }) => name === at || op === at);
  if (found !== undefined) {
    const { op, name: checkpoint, snapshot, approval, seq, at: passedAt } = found;
    const passed = { op, snapshot, approval, at: passedAt };
    return { workflow: id, seq, checkpoint, passed, upTo: state.seq };
  }
  const names = state.passed.map(({ name }) => `"${name}"`).join(", ");
  throw new HoldpointError("wrong_state", `The workflow ${id} has passed no checkpoint "${at}".`, {
    next: names === "" ? "It has passed none yet." : `It has passed ${names}.`,
  });
}

function creationOf(runtime: Runtime, state: LiveWorkflow, fork: Fork): Creation {
  const { name, description, version, input, agent, requester } = state;
  const { parties, escrow, complexity, checkpoints } = state;
  const { attempts, rollbackEnabled, onIrreversible } = state;
  const facts = { name, description, version, input, agent, requester };
  const plan = { parties, escrow, complexity, checkpoints };
  const terms = { attempts, rollbackEnabled, onIrreversible, ...termsOf(state), parent: null };
  const body = { ...facts, ...plan, ...terms, fork };
  return { workflow: freshId(runtime, "wf"), requestId: null, epoch: null, body };
}

/** Nobody could ask for its fork by a request id, and nobody else has its definition. */
function refuseOfOneRun(id: string): never {
  const what = `The workflow ${id} is a supervised run, and cannot be forked: its model, tools and policy are its own.`;
  throw new HoldpointError("wrong_state", what, {
    data: "Nothing was started.",
    next: "Call hp.supervise for a new run with another id.",
  });
}

function refuseOutside(id: string): never {
  const what = `The workflow ${id} is driven by an agent from outside, and cannot be forked: nobody could run the fork.`;
  throw new HoldpointError("wrong_state", what, {
    data: "Nothing was started.",
    next: "Have the agent create another workflow.",
  });
}

/** What was done until there is not done again. */
export async function forkById(
  runtime: Runtime,
  id: string,
  { at }: { readonly at: string },
): Promise<string> {
  for (;;) {
    const state = await workflowState(runtime, id);
    if (state.isOfOneRun === true) refuseOfOneRun(id);
    if (state.isOutside === true) refuseOutside(id);
    const fork = forkOf(id, state, at);
    await checkSettled(runtime, fork);
    const creation = creationOf(runtime, state, fork);
    const made = await runCommand(runtime, { write: [workflowStream(id)] }, (draft) =>
      forkWorkflow(draft, creation, fork),
    );
    if (made.kind === "forked") return made.workflow;
    if (made.kind === "going_back")
      refuse(
        fork,
        "it is rolled back past there",
        "Wait until it has gone back, then look what it has passed.",
      );
  }
}
