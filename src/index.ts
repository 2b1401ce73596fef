/** Entry point of the package, and the composition root of the library. */

import type { Intents } from "./agents/intents/verbs.ts";
import type { Remote } from "./agents/verbs.ts";
import type { Approvals } from "./approvals/contract.ts";
import type { Answer } from "./effects/answer.ts";
import { putSecret } from "./effects/arguments.ts";
import type { ToolDefinition } from "./effects/define-tool.ts";
import { type Execution, executeByName, type GatedTool, type Gates, gate } from "./effects/gate.ts";
import type { Recovered } from "./effects/recover.ts";
import type { Tool } from "./effects/tool.ts";
import type { SecretHandle } from "./kernel/stored-value.ts";
import type { KillSwitch } from "./kill-switch/contract.ts";
import {
  checkInstanceOptions,
  createDefinitions,
  createOpener,
  type HoldpointOptions,
  instanceDefinitions,
  markOpener,
} from "./open.ts";
import { parts, startSupervised, type VerbGroups, withMethodGroups } from "./parts.ts";
import type { PolicyText } from "./policy/rules/document.ts";
import type { Acknowledged, Restored, RestoreStatement } from "./runtime/restore.ts";
import type { Journal } from "./runtime/verbs.ts";
import type { SuperviseOptions } from "./supervise/options.ts";
import type { SuperviseResult } from "./supervise/rules/turn.ts";
import type { VERBS } from "./verbs.ts";
import type { Current, Definition, Workflow, WorkflowBody, WorkflowOptions } from "./workflows/definition.ts";
import { currentIn } from "./workflows/run/context.ts";
import { declareWorkflow, workUntil } from "./workflows/start.ts";
import type { Workflows } from "./workflows/verbs.ts";

export type {
  OutcomeReport,
  Permit,
  RemoteAnswer,
  RemoteCheckpointRequest,
  RemoteCheckpointResult,
  RemoteProposal,
} from "./agents/contract.ts";
export type { Intent, IntentAnswer, OutgoingIntent } from "./agents/intents/contract.ts";
export type { IntentDelivery, Waited } from "./agents/intents/delivery.ts";
export type { RemoteTool } from "./agents/remote-tool.ts";
export type { NewRemoteWorkflow, RemoteWorkflow } from "./agents/remote-workflow.ts";
export type {
  Approval,
  ApprovalSummary,
  Decided,
  Decision,
  DelegationRequest,
  Rejection,
  Remark,
} from "./approvals/contract.ts";
export {
  type Answer,
  type DoneAnswer,
  Failed,
  type FailedAnswer,
  InDoubt,
  type InDoubtAnswer,
  Pending,
  type PendingAnswer,
  Refused,
  type RefusedAnswer,
} from "./effects/answer.ts";
export type { Action } from "./effects/contract.ts";
export type { Policy, ProbeResult, ToolDefinition, Undo, UndoRule } from "./effects/define-tool.ts";
export type { CallOptions, Execution, GatedTool } from "./effects/gate.ts";
export type { Receipt } from "./effects/rules/receipt.ts";
export { NotApplied } from "./effects/run-tool.ts";
export type { PreviewContext, ProbeContext, ToolContext } from "./effects/tool.ts";
export type { GrantOffer, StandingGrant } from "./grants/contract.ts";
export { ERROR_CODES, type ErrorCode, HoldpointError, isHoldpointError } from "./kernel/errors.ts";
export { type Money, money, usd } from "./kernel/money.ts";
export type { Refusal, RefusalCode } from "./kernel/refusals.ts";
export type { SecretHandle } from "./kernel/stored-value.ts";
export type { KillSwitchState } from "./kill-switch/contract.ts";
export type { HoldpointOptions } from "./open.ts";
export type { PolicySource } from "./policy/read.ts";
export type { Facts, PolicyText } from "./policy/rules/document.ts";
export type { Cost, EffectClass } from "./policy/rules/tool-rules.ts";
export type {
  ApproverRule,
  OnTimeout,
  PastCall,
  PolicyInput,
  Risk,
  RiskLevel,
  StageRule,
  Verdict,
} from "./policy/rules/verdict.ts";
export type { JournalRecord } from "./runtime/contract.ts";
export type { Notice } from "./runtime/notices.ts";
export type { RestoreStatement } from "./runtime/restore.ts";
export { secret } from "./runtime/secrets.ts";
export type { SqlTransaction, SqlValue, Store } from "./stores/store.ts";
export type { Model, ModelAnswer, ModelFailure, ModelRequest } from "./supervise/models/model.ts";
export type { ModelChoice, SupervisedTool, SuperviseOptions } from "./supervise/options.ts";
export type { StopReason } from "./supervise/rules/stop-reason.ts";
export type { SuperviseResult } from "./supervise/rules/turn.ts";
export type {
  Current,
  Passed,
  QuestionAnswer,
  QuestionOptions,
  Retries,
  RunOptions,
  SentBack,
  StepContext,
  StepOptions,
  Workflow,
  WorkflowBody,
  WorkflowCallOptions,
  WorkflowContext,
  WorkflowHandle,
  WorkflowIntent,
  WorkflowOptions,
  WorkflowResult,
} from "./workflows/definition.ts";
export type { RollbackReport } from "./workflows/events.ts";
export {
  adaptiveCheckpoints,
  type CheckpointConditions,
  type CheckpointDefinition,
  type CheckpointFacts,
  type CheckpointSets,
  type CheckpointUndo,
} from "./workflows/rules/checkpoints.ts";
export { StepFailed, StepRefused } from "./workflows/run/step.ts";
export { ChildFailed } from "./workflows/run/wait.ts";
export type { WorkflowStatus } from "./workflows/state.ts";
export type { WorkflowDetails } from "./workflows/views.ts";

/** A policy document in TypeScript. Its conditions may also be pure functions. */
export function definePolicy(document: PolicyText): PolicyText {
  return document;
}

/** Groups that offer more than the verbs of their contract. */
type LargerGroups = "approvals" | "intents" | "journal" | "remote" | "workflows";
type Groups = KillSwitch & Omit<VerbGroups<(typeof VERBS)["library"]>, LargerGroups>;

export type Holdpoint = Groups & {
  /** Declares a tool. The returned function reviews a call, waits for approval, runs it once and returns a receipt. */
  gate<Args, Result>(definition: ToolDefinition<Args, Result>): GatedTool<Args, Result>;
  /** API for agents that run in another process: propose an action, execute it, report the outcome. */
  readonly remote: Remote;
  /** Runs a function once per request id. */
  execute<Payload, Result>(execution: Execution<Payload, Result>): Promise<Answer<Result>>;
  readonly approvals: Approvals;
  readonly journal: Journal;
  /** Requests from one agent to another agent or to people, with their answers. */
  readonly intents: Intents;
  /**
   * Declares a workflow: a function whose every operation is journaled. It resumes after a crash, pauses at checkpoints
   * for people, and can be sent back to an earlier checkpoint.
   */
  workflow<Input, Result>(name: string, body: WorkflowBody<Input, Result>): Workflow<Input, Result>;
  workflow<Input, Result>(
    name: string,
    options: WorkflowOptions<Input>,
    body: WorkflowBody<Input, Result>,
  ): Workflow<Input, Result>;
  readonly workflows: Workflows;
  /**
   * Has a model work on a goal, as a workflow. The model only proposes; the gate validates, reviews and executes.
   * Resolves when the run has ended, with the stop reason and all that was proposed, decided, executed and observed.
   */
  supervise(options: SuperviseOptions): Promise<SuperviseResult>;
  /** The workflow, step, effect or check that the caller runs in; undefined outside of this instance's. */
  current(): Current | undefined;
  /** Runs the workflows defined here whenever one has work to do, until the signal aborts or `close` is called. */
  work(signal?: AbortSignal): Promise<void>;
  /** Finds effects of dead processes now. Retries those whose class allows it, and puts the others in doubt. */
  recover(): Promise<Recovered>;
  /** Whether there is evidence that this store was restored or copied since its last write. If so, nothing starts. */
  restored(): Promise<Restored>;
  /**
   * A person accepts a restored store. Effects under way become in doubt, effects that may have been done since do not
   * start by themselves, and programs may execute again. `anyway`: even without evidence of a restore.
   */
  acknowledgeRestore(said: RestoreStatement & { readonly anyway?: boolean }): Promise<Acknowledged>;
  /** Stores a value encrypted, outside the journal. Put the returned handle into arguments. */
  putSecret(value: string): Promise<SecretHandle>;
  /** Lets effects under way finish, seals the journal and closes the store. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The rest of the instance loads when it is used (`parts.ts`). */
type OwnMethods = Omit<Holdpoint, keyof ReturnType<typeof withMethodGroups<object>>>;

/**
 * Opens Holdpoint, by default on a folder of this machine.
 *
 * ```ts
 * import { holdpoint } from "holdpoint";
 *
 * const hp = holdpoint();
 * const greet = hp.gate({ name: "greet", policy: "approve", run: (args: { who: string }) => `Hello, ${args.who}` });
 * const answer = await greet({ who: "Ann" }, { requestId: "greet-ann" });
 * if (answer.status === "done") console.log(answer.result, answer.receipt.status);
 * await hp.close();
 * ```
 */
export function holdpoint(options: HoldpointOptions = {}): Holdpoint {
  checkInstanceOptions(options);
  const tools = new Map<string, Tool>();
  const policy =
    options.policy === undefined ? undefined : parts.livePolicy().livePolicy(options.policy, { tools });
  const known = new Map<string, Definition>();
  const { open: opening, close } = createOpener(options, {
    tools,
    policy,
    definitions: () => [...known.keys()],
  });
  const definitions = createDefinitions(known, opening);
  const gates: Gates = {
    tools,
    warned: new Set(),
    open: opening,
    ...(policy === undefined ? {} : { policy }),
  };
  const own: OwnMethods = {
    ...markOpener(opening),
    gate: (definition) => gate(gates, definition),
    execute: (execution) => executeByName(gates, execution),
    workflow: <Input, Result>(
      name: string,
      first: WorkflowOptions<Input> | WorkflowBody<Input, Result>,
      second?: WorkflowBody<Input, Result>,
    ) => declareWorkflow(definitions, name, first, second),
    supervise: (given) => startSupervised({ definitions, gates }, given),
    current: () => currentIn(tools),
    work: (signal) => workUntil(definitions, signal),
    recover: async () => parts.recover().recoverDead(await opening()),
    restored: async () => parts.restore().getRestoreStatus(await opening()),
    acknowledgeRestore: async (said) => parts.restore().acknowledgeRestore(await opening(), said),
    putSecret: (value) => putSecret(opening, value),
    close,
    [Symbol.asyncDispose]: close,
  };
  const hp: Holdpoint = withMethodGroups(own, gates, definitions);
  instanceDefinitions.set(hp, definitions);
  return hp;
}
