/**
 * Moves a call one step: proposes it, or returns to its action, as its effect class requires. Loads the inputs that
 * rules request and states do not hold: artifacts by hash, earlier calls of a workflow, and the tool's preview.
 */

import { keepApart } from "../approvals/rules/ask.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, approvalStream, epochStream, ROSTER, switchStream } from "../kernel/stream.ts";
import type { Draft, Need, Needs } from "../kernel/transaction.ts";
import { type SwitchSubject, switchScopes } from "../kill-switch/rules.ts";
import { readPastCalls } from "../policy/past-calls.ts";
import type { Executor, Load, PermitAsker, ToolRules } from "../policy/rules/tool-rules.ts";
import { type Epoch, freshId, type Runtime } from "../runtime/runtime.ts";
import { knownSecrets, type Secrets, validateWithSecrets } from "../runtime/secrets.ts";
import { loadArtifact, runWithInputs } from "../runtime/store-access.ts";
import { advance } from "./rules/advance.ts";
import { type ActionProposal, type ProposeAnswer, propose, requestName } from "./rules/propose.ts";
import { historyKey } from "./rules/review.ts";
import { computePreview } from "./run-tool.ts";
import type { Tool } from "./tool.ts";

const HISTORY_PREFIX = historyKey("");

/** `tool`: the one whose rules run. null: no tool is available, and no rule requests a preview. */
export function createInputLoader(runtime: Runtime, tool: Tool | null): (load: Load) => Promise<Json> {
  return async ({ key, preview }) => {
    if (preview !== undefined && tool !== null) return computePreview(runtime, tool, preview);
    if (!key.startsWith(HISTORY_PREFIX)) return loadArtifact(runtime, key);
    return (await readPastCalls(runtime, key.slice(HISTORY_PREFIX.length))) as unknown as Json;
  };
}

/** The requester of a permit, and whether its connection has closed. */
export type Caller = { readonly asker: PermitAsker; readonly isGone?: () => boolean };

/**
 * A new call, or an existing action with the approval that it is known to wait for. `caller`: set if an agent performs
 * the effect itself.
 */
export type CallSource = { readonly caller?: Caller } & (
  | { readonly proposal: Omit<ActionProposal, "executor"> }
  | {
      readonly action: string;
      readonly approval: string | null;
      /** The action most likely still waits: look before locking anything. */
      readonly isLook?: true;
    }
);

export const actionIdIn = (source: CallSource): string =>
  "action" in source ? source.action : source.proposal.action;

/** Rules see secret handles. The schema sees the secret values when it checks a revision or an edit. */
function withSecrets(rules: ToolRules, secrets: Secrets): ToolRules {
  const known = knownSecrets(secrets);
  return { ...rules, validate: (args) => validateWithSecrets(rules.validate, args, known) };
}

/** Adds separation of duties to every verdict of the tool's policy, if the instance requires it. */
function separated(rules: ToolRules, { separate }: Runtime): ToolRules {
  if (separate !== true) return rules;
  const { policy } = rules;
  return { ...rules, policy: (input) => keepApart(policy(input)) };
}

/** An epoch that may send. A lone process is not notified that it lost its epoch: its effects would never be sent. */
async function livingEpoch(runtime: Runtime): Promise<Epoch> {
  const epoch = await runtime.epoch();
  if (epoch.mayRun()) return epoch;
  try {
    await epoch.confirm();
    return epoch;
  } catch (error) {
    const next = await runtime.epoch();
    if (next.id === epoch.id) throw error;
    return next;
  }
}

function executorIn(runtime: Runtime, tool: Tool, epoch: string): Omit<Executor, "loaded"> {
  return {
    rules: withSecrets(separated(tool.rules, runtime), runtime.secrets),
    epoch,
    ...(tool.outside === undefined ? {} : { outside: tool.outside }),
    ids: { approval: freshId(runtime, "apr"), nonce: freshId(runtime, "non") },
  };
}

export async function createExecutor(runtime: Runtime, tool: Tool): Promise<Omit<Executor, "loaded">> {
  return executorIn(runtime, tool, (await livingEpoch(runtime)).id);
}

/** For rules that only review and start nothing: opens no epoch. */
export const createReviewer = (runtime: Runtime, tool: Tool): Omit<Executor, "loaded"> =>
  executorIn(runtime, tool, "");

/** Last check before the commit: if the caller has hung up, no agent would perform the started effect. */
export function throwIfCallerGone({ isGone }: Pick<Caller, "isGone">): void {
  if (isGone?.() !== true) return;
  throw new HoldpointError("caller_gone", "The connection of the agent that asked was closed.");
}

function executorFor(executor: Executor, { caller }: CallSource): Executor {
  const { outside } = executor;
  if (outside === undefined || caller === undefined) return executor;
  return { ...executor, outside: { ...outside, asker: caller.asker } };
}

/** Runs the rules. Starts nothing for a caller that has hung up. */
function movedFor(draft: Draft, source: CallSource, executor: Executor): Need | Load | ProposeAnswer {
  const moved = runCallRules(draft, source, executorFor(executor, source));
  if (moved.kind === "new" && moved.answer.kind === "started") throwIfCallerGone(source.caller ?? {});
  return moved;
}

/** An existing proposal with this id is our own: its commit was written but returned an error. */
export function runCallRules(
  draft: Draft,
  source: CallSource,
  executor: Executor,
): Need | Load | ProposeAnswer {
  const action = actionIdIn(source);
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if ("proposal" in source) {
    if (draft.state(ref).phase !== "none") return { kind: "existing", action };
    return propose(draft, { ...source.proposal, executor });
  }
  const answer = advance(draft, action, executor);
  return answer.kind === "need" || answer.kind === "load" ? answer : { kind: "new", action, answer };
}

/** Adds the proposal's own arguments, so that the rules need not load a large value. */
export function withOwnArgs(
  source: CallSource,
  loaded: ReadonlyMap<string, Json>,
  digest: string | null,
): ReadonlyMap<string, Json> {
  return "proposal" in source && digest !== null
    ? new Map([...loaded, [digest, source.proposal.args]])
    : loaded;
}

function coveredIn(runtime: Runtime, source: CallSource): SwitchSubject {
  if (!("proposal" in source)) return { agent: runtime.agent };
  const { agent, placement } = source.proposal;
  return placement === undefined ? { agent } : { agent, within: placement };
}

/** What the rules need in any case. Declaring it up front saves a second and third round. */
function foreseen(runtime: Runtime, source: CallSource, epoch: string): Needs {
  const requestId = "proposal" in source ? source.proposal.requestId : null;
  const { approval, isLook } = "action" in source ? source : { approval: null, isLook: undefined };
  return {
    ...(isLook && { isLook }),
    write: [actionStream(actionIdIn(source)), ...(approval === null ? [] : [approvalStream(approval)])],
    read: [
      ...switchScopes(coveredIn(runtime, source)).map(switchStream),
      epochStream(epoch),
      ...(approval === null ? [] : [ROSTER]),
    ],
    names: requestId === null ? [] : [requestName(requestId)],
  };
}

export async function advanceCall(
  runtime: Runtime,
  tool: Tool,
  source: CallSource,
  digest: string | null,
): Promise<ProposeAnswer> {
  const executor = await createExecutor(runtime, tool);
  const isNew = "proposal" in source;
  await runtime.reach(isNew ? "before_propose" : "before_start");
  const moved = await runWithInputs(
    runtime,
    foreseen(runtime, source, executor.epoch),
    (draft, loaded) => movedFor(draft, source, { ...executor, loaded: withOwnArgs(source, loaded, digest) }),
    createInputLoader(runtime, tool),
  );
  await runtime.reach(isNew ? "after_propose" : "after_start");
  return moved;
}
