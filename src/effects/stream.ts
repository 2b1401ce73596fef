/** The stream of an action: what each event does to the state, and the list of actions by phase. */

import { actionTitle } from "../approvals/rules/title.ts";
import { previewOf, titleForRow } from "../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Via } from "../kernel/principal.ts";
import type { Refusal } from "../kernel/refusals.ts";
import { actionStream, defineStream, outOfOrder } from "../kernel/stream.ts";
import type { Draft } from "../kernel/transaction.ts";
import type {
  ActionIn,
  ActionState,
  Effect,
  EffectTerms,
  ExecutedFrom,
  LateReport,
  LiveAction,
  OutcomeStatus,
  PermitState,
  ProposalFacts,
  ReportedResult,
  ReviewFacts,
  Testimony,
} from "./state.ts";

const WHAT = "An action";
type Entry = { readonly at: number; readonly seq: number };
type Undecided = ActionIn<"open"> | ActionIn<"waiting">;
type Running = ActionIn<"running">;

function propose(_none: ActionState, { argsDigest, ...facts }: ProposalFacts, { at }: Entry): ActionState {
  return {
    ...facts,
    argsDigest,
    proposedDigest: argsDigest,
    from: "original",
    proposedAt: at,
    review: null,
    phase: "open",
    held: null,
  };
}

type Revision = {
  readonly by: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly reason: string;
  readonly rule: string;
};

function revise(state: Undecided, { by, args, argsDigest }: Revision): LiveAction {
  const isPersons = by !== "policy" || state.from === "human_revised";
  const from: ExecutedFrom = isPersons ? "human_revised" : "supervisor_revised";
  return { ...state, args, argsDigest, from };
}

type Reviewed = ReviewFacts & { readonly approval: string | null };

function keepReview(state: Undecided, { approval, ...review }: Reviewed): LiveAction {
  const facts = { ...state, review };
  return approval === null
    ? { ...facts, phase: "open", held: null }
    : { ...facts, phase: "waiting", approval, held: null };
}

function refuse(state: Undecided, refusal: Refusal, { at }: Entry): LiveAction {
  const approval = state.phase === "waiting" ? state.approval : null;
  return { ...state, phase: "refused", refusal, at, approval };
}

type Start = EffectTerms & {
  readonly effect: string;
  /** Permit: digest of its holder. Absent if the agent sent none: the permit then counts as begun. */
  readonly holder?: string;
  /** Permit: the request that it answers. */
  readonly ask?: string;
};

function start(state: Undecided, { effect: id, holder, ask, ...terms }: Start, { at }: Entry): LiveAction {
  const fresh = { id, attempt: 1, startedAt: at, late: [], probe: null };
  const permit = { holder: holder ?? null, isBegun: holder === undefined, handedOut: 1, ask: ask ?? null };
  const issued = terms.reportBy === undefined ? {} : { permit };
  return { ...state, phase: "running", effect: { ...terms, ...fresh, ...issued } };
}

function movePermit(state: Running, type: string, change: Partial<PermitState>): LiveAction {
  const { permit } = state.effect;
  if (permit === undefined) throw outOfOrder(WHAT, type, state.phase);
  return { ...state, effect: { ...state.effect, permit: { ...permit, ...change } } };
}

/** An agent that performs the effect itself has one report: the first is kept. */
function tell(effect: Effect, told: Testimony): Effect {
  return effect.reportBy === undefined || effect.told !== undefined ? effect : { ...effect, told };
}

type Ending = Partial<Pick<ReportedResult, "reason" | "result" | "resultDigest" | "by">>;

/** `isOwn`: the owner of the effect reported it. */
function end(state: Running, phase: OutcomeStatus, said: Ending & { isOwn: boolean }, { at, seq }: Entry) {
  const { isOwn, ...known } = said;
  const { reason = "", resultDigest = null } = known;
  const word = { status: phase, reason, resultDigest, isLate: false };
  const effect = isOwn ? tell(state.effect, word) : state.effect;
  const result = { reason, result: null, resultDigest, by: effect.epoch, evidence: null };
  return { ...state, effect, phase, outcome: { at, seq, ...result, ...known } } as LiveAction;
}

type Resolution = ReportedResult & Via & { readonly status: "applied" | "not_applied" };

function resolve(state: ActionIn<"in_doubt">, body: Resolution, { at, seq }: Entry): LiveAction {
  const { status, via: _, ...said } = body;
  return { ...state, phase: status, outcome: { ...said, at, seq } };
}

/** With the result that an agent reported. */
type Late = LateReport & { readonly result?: Json; readonly resultDigest?: string | null };

function testify(state: ActionIn<"running" | OutcomeStatus>, body: Late): LiveAction {
  const { epoch, attempt, status, reason, resultDigest = null } = body;
  const effect = tell(state.effect, { status, reason, resultDigest, isLate: true });
  const said = { epoch, attempt, status, reason, ...(resultDigest === null ? {} : { resultDigest }) };
  return { ...state, effect: { ...effect, late: [...effect.late, said] } };
}

/** The latest policy verdict. A call that the policy changed and then approved counts as `revise`. */
function verdictOf({ review, from }: LiveAction): string | null {
  if (review === null) return null;
  return review.verdict === "approve" && from === "supervisor_revised" ? "revise" : review.verdict;
}

function progress(action: LiveAction): JsonObject {
  switch (action.phase) {
    case "open":
      return { held: action.held?.code ?? null };
    case "waiting":
      return { approval: action.approval };
    case "refused":
      return { code: action.refusal.code, reason: action.refusal.reason };
    case "running": {
      const { id: effect, epoch, attempt, startedAt, reportBy } = action.effect;
      return { effect, epoch, attempt, startedAt, ...(reportBy === undefined ? {} : { reportBy }) };
    }
    default: {
      const { effect, outcome } = action;
      return { effect: effect.id, attempt: effect.attempt, reason: outcome.reason, endedAt: outcome.at };
    }
  }
}

function summary(action: LiveAction): JsonObject {
  const { tool, effectClass, agent, requestId, argsDigest, titleTemplate } = action;
  const args = previewOf(action.args);
  return {
    tool,
    effectClass,
    agent,
    requestId,
    argsHash: argsDigest.slice(0, 12),
    args,
    verdict: verdictOf(action),
    ...titleForRow(args, titleTemplate, () => actionTitle(tool, titleTemplate, action.args)),
    ...progress(action),
  };
}

const OVER: readonly ActionState["phase"][] = ["applied", "not_applied", "refused"];
const UNDECIDED = ["open", "waiting"] as const;
const RUNNING = ["running"] as const;
const DOUBTED = ["in_doubt"] as const;
const STARTED = ["running", "applied", "not_applied", "in_doubt"] as const;
const { after, define } = defineStream<ActionState, "phase">("phase");

export const action = define("action", {
  what: WHAT,
  version: 5,
  initial: { phase: "none" },
  isOver: ({ phase }) => OVER.includes(phase),
  events: {
    "action.proposed": after(
      ["none"],
      "an action was proposed: request id, tool, effect class, schema digest, arguments and their digest, agent, requester, what the agent says; its place in a workflow, if it has one; `outside` where the agent performs it itself, `undo` where it says how it would undo it, and the `titleTemplate` of the tool, if it has a [title](../guide/tools.md#titles)",
      propose,
    ),
    "action.revised": after(
      UNDECIDED,
      "the arguments were changed, `by` the policy or a person; the new ones and their digest, rule and reason",
      revise,
    ),
    "action.reviewed": after(
      UNDECIDED,
      "the policy's verdict (`approve`, `block`, `escalate`), rule and reason; `limitOf` where no policy but a limit of the supervised run blocked it, set for that `run` or the `usual` one; `limitBehind` where a policy blocked it and such a limit would have, with its rule; [which policy](#which-policy); the highest `risk`, all `risks` where several documents score, and what rules on trial would have said (`shadow`), each with its document; the approval that asks, if people are asked, and then `costs`, what the tool expects it to cost by budget. Of an edit that the policy allows it says `approve`, beside the approval that was edited",
      keepReview,
    ),
    "action.held": after(
      UNDECIDED,
      "it does not start for now: kill switch or budget; the same request id may go on",
      (state, held: Refusal) => ({ ...state, held }),
    ),
    "action.refused": after(UNDECIDED, "it does not start, for good: code, by whom or what, reason", refuse),
    "action.conflicted": after(
      "live",
      "the request id was reused for another action; that call was refused",
      (state, _body: { readonly tool: string; readonly argsDigest: string; readonly by: string }) => state,
    ),
    "effect.started": after(
      UNDECIDED,
      "the effect may begin: its id, epoch, grant (a verdict, an approval or a standing grant), binding, time limit and reserved costs. Where the [agent performs it itself](../guide/outside-agents.md), the agent is named in the epoch's place, `reportBy` says by when it has to report, `holder` is the SHA-256 of the holder that the permit was issued to, and `ask` names the request",
      start,
    ),
    "effect.begun": after(
      RUNNING,
      "the holder of a permit begins to perform it. A permit without a holder is begun when it is issued, and has no such entry",
      (state, { ask }: { readonly holder: string; readonly ask: string }) =>
        movePermit(state, "effect.begun", { isBegun: true, ask }),
    ),
    "effect.handed_out": after(
      RUNNING,
      "a permit that was begun was handed out again, where the effect class allows that; `times` counts, `holder` is the SHA-256 of the holder that asked, if it had one",
      (state, body: { readonly times: number; readonly holder?: string; readonly ask: string }) =>
        movePermit(state, "effect.handed_out", { handedOut: body.times, ask: body.ask }),
    ),
    "effect.retried": after(
      RUNNING,
      "another attempt, perhaps by another epoch, and why",
      (state, { epoch }: { readonly epoch: string; readonly reason: string }) => ({
        ...state,
        effect: { ...state.effect, epoch, attempt: state.effect.attempt + 1 },
      }),
    ),
    "effect.applied": after(
      RUNNING,
      "it happened: the result and its digest",
      (
        state,
        {
          result,
          resultDigest,
        }: Pick<LateReport, "epoch" | "attempt"> & {
          readonly result: Json;
          readonly resultDigest: string;
        },
        entry,
      ) => end(state, "applied", { result, resultDigest, isOwn: true }, entry),
    ),
    "effect.not_applied": after(
      RUNNING,
      "it certainly did not happen, and why",
      (state, { epoch: by, reason }: Omit<LateReport, "status">, entry) =>
        end(state, "not_applied", { reason, by, isOwn: by === state.effect.epoch }, entry),
    ),
    "effect.in_doubt": after(
      RUNNING,
      "the outcome is unknown, and why; `by` is `deadline` where an agent has not reported in time, and `permit` where a permit was asked for again after it was begun",
      (
        state,
        /** `by`: what put it in doubt, if that was not the owner. */
        { reason, by }: Pick<LateReport, "attempt" | "reason"> & { readonly by?: string },
        entry,
      ) => {
        const isOwn = by === undefined;
        return end(state, "in_doubt", isOwn ? { reason, isOwn } : { reason, by, isOwn }, entry);
      },
    ),
    "effect.probed": after(
      DOUBTED,
      "the tool's `verify` was asked and it did not end the doubt; the same answer again is not recorded",
      (state, probe: { readonly answer: "not_applied" | "unknown"; readonly evidence: Json }) => ({
        ...state,
        effect: { ...state.effect, probe },
      }),
    ),
    "effect.resolved": after(
      DOUBTED,
      "the doubt was resolved: `applied` or `not_applied`, by a probe or a person, with reason and evidence",
      resolve,
    ),
    "effect.reported_late": after(
      STARTED,
      "an executor that no longer held the effect reported its outcome, or an agent reported too late or for the second time; kept as testimony",
      testify,
    ),
  },
  lists: [
    {
      bucket: ({ phase }) => phase,
      data: summary,
      orders: {
        proposed: {
          view: "actions",
          version: 3,
          // Rows of version 2 have no verdict; such an action is counted under none.
          oldest: 2,
          at: ({ proposedAt }) => proposedAt,
          // A running effect without a report is announced at this time.
          due: (state) => (state.phase === "running" ? (state.effect.reportBy ?? null) : null),
        },
      },
    },
  ],
});

type ActionBodies = NonNullable<typeof action.bodies>;
export type ActionEvent = {
  [Type in keyof ActionBodies]: { readonly type: Type; readonly body: ActionBodies[Type] };
}[keyof ActionBodies];

/** The state of an action that was proposed. */
export function getLiveAction(draft: Draft, id: string): LiveAction {
  const state = draft.state(actionStream(id));
  if (state.phase === "none") throw new TypeError(`the action ${id} does not exist`);
  return state;
}

/** The caller has locked the action. */
export function appendActionEvent<Type extends keyof ActionBodies>(
  draft: Draft,
  id: string,
  type: Type,
  body: ActionBodies[Type],
): void {
  draft.append(actionStream(id), [action.event(type, body)]);
}
