/**
 * The review of an action: the policy's input, the preview shown to people, and what the journal keeps of both.
 * - History is complete. Settled calls are passed in, and used only while the workflow says that none has settled
 *   since. Open ones are read under the lock. Two concurrent calls see each other.
 * - An action that no person could approve, by the current roster and parties, is blocked. Once approved, this is not
 *   checked.
 * - A preview's digest is part of what people approve. It is computed again before the start. Another digest sends the
 *   action back to them, even if the policy would no longer ask.
 * - A preview that fails shows why. A new failure counts as another preview.
 */

import { apartIn, asksForSeparation, versionsOf } from "../../approvals/rules/ask.ts";
import type { ApprovalQuestion, Preview, ShownPreview } from "../../approvals/state.ts";
import { copyJson, digestOf } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import { actionStream, ROSTER, workflowStream } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import { type Review, reviewAction } from "../../policy/rules/review.ts";
import { type ApprovalTerms, listStageRules, whyUnmeetable } from "../../policy/rules/stages.ts";
import type { Executor, Load, ToolRules } from "../../policy/rules/tool-rules.ts";
import { namesGroups, type PastCall, type PolicyInput } from "../../policy/rules/verdict.ts";
import type { LiveWorkflow } from "../../workflows/state.ts";
import { type ActionState, isOwnCall, type LiveAction, type ReviewFacts, type Within } from "../state.ts";
import { getLiveAction } from "../stream.ts";
import { expectedCosts } from "./start.ts";

/** The settled calls of a workflow as of one of its entries. */
export type PastCalls = { readonly settledSeq: number; readonly calls: readonly PastCall[] };

/** What a workflow's entries say of its settled calls: their ids in that order, and those that were undone. */
export type SettledCalls = { settledSeq: number; readonly settled: string[]; readonly undone: Set<string> };

export const startSettledCalls = (): SettledCalls => ({ settledSeq: 0, settled: [], undone: new Set() });

/** Only compensations that an agent named count as calls: `isCall` tells them from the others. */
const SETTLED: ReadonlySet<string> = new Set(["call.settled", "compensation.settled"]);

type SettlingEntry = { readonly type: string; readonly seq: number; readonly body: JsonObject };

/** `isOwn`: whether the call counts, or only what it undid. */
export function noteSettled(known: SettledCalls, { type, seq, body }: SettlingEntry, isOwn = true): void {
  if (type === "compensation.settled" && body["status"] === "undone")
    known.undone.add(String(body["undoes"]));
  if (!isOwn) return;
  if (SETTLED.has(type)) known.settled.push(String(body["action"]));
  if (SETTLED.has(type) || type === "rollback.ended") known.settledSeq = seq;
}

export const historyKey = (workflow: string): string => `history/${workflow}`;

export function pastCall(action: string, state: LiveAction, undone: boolean): PastCall {
  return {
    action,
    tool: state.tool,
    args: state.args,
    status: state.phase === "open" ? "waiting" : state.phase,
    result: state.phase === "applied" ? state.outcome.result : null,
    generation: Number(state.within?.op.split("/")[1] ?? 1),
    undone,
    at: state.proposedAt,
  };
}

export const isCall = (state: ActionState): state is LiveAction =>
  state.phase !== "none" && isOwnCall(state.within);

/** Stored arguments, or what has to be loaded first because they are too large for a journal entry. */
export function argsOf(
  kept: { readonly args: Json; readonly argsDigest: string },
  loaded: ReadonlyMap<string, Json>,
): Load | { readonly kind: "args"; readonly value: Json } {
  if (!isArtifactRef(kept.args)) return { kind: "args", value: kept.args };
  const value = loaded.get(kept.argsDigest);
  return value === undefined ? { kind: "load", key: kept.argsDigest } : { kind: "args", value };
}

/** With full arguments, also those that are too large for a journal entry. */
function openCalls(
  draft: Draft,
  ids: readonly string[],
  loaded: ReadonlyMap<string, Json>,
): Load | readonly PastCall[] {
  const calls: PastCall[] = [];
  for (const id of ids) {
    const state = draft.state(actionStream(id));
    if (!isCall(state)) continue;
    const args = argsOf(state, loaded);
    if (args.kind === "load") return args;
    calls.push({ ...pastCall(id, state, false), args: args.value });
  }
  return calls;
}

function historyOf(
  draft: Draft,
  id: string,
  within: Within,
  loaded: ReadonlyMap<string, Json>,
): Need | Load | readonly PastCall[] {
  const flow = draft.state(workflowStream(within.workflow)) as LiveWorkflow;
  const others = flow.open.filter((one) => one.startsWith("act_") && one !== id);
  const more = draft.need({ read: others.map(actionStream) });
  if (more !== undefined) return more;
  const settled = loaded.get(historyKey(within.workflow)) as unknown as PastCalls | undefined;
  if (settled === undefined || settled.settledSeq !== flow.settledSeq)
    return { kind: "load", key: historyKey(within.workflow) };
  const open = openCalls(draft, others, loaded);
  return "kind" in open ? open : [...settled.calls, ...open].toSorted((a, b) => a.at - b.at);
}

const isAsking = (answer: Need | Load | readonly PastCall[]): answer is Need | Load => "kind" in answer;

/** Loads the history when a policy first reads it. Until it is loaded, the policy's answer is discarded. */
function withHistory(
  input: Omit<PolicyInput, "history">,
  find: () => Need | Load | readonly PastCall[],
): { readonly input: PolicyInput; readonly missing: () => Need | Load | undefined } {
  let found: Need | Load | readonly PastCall[] | undefined;
  const asked = {
    ...input,
    get history(): readonly PastCall[] {
      found ??= find();
      // A copy, so that a policy cannot change ours.
      return isAsking(found) ? [] : (copyJson(found as unknown as Json) as unknown as readonly PastCall[]);
    },
  };
  return { input: asked, missing: () => (found !== undefined && isAsking(found) ? found : undefined) };
}

/** People excluded from an action by separation of duties: the parties of its workflow. */
export function apartOf(
  draft: Draft,
  terms: Pick<ApprovalTerms, "approvers" | "stages">,
  { within }: Pick<LiveAction, "within">,
): Need | Pick<ApprovalQuestion, "apart"> {
  if (within === undefined || !asksForSeparation(terms)) return {};
  const ref = workflowStream(within.workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const flow = draft.state(ref);
  return apartIn(terms, flow.status === "none" ? null : flow.parties);
}

/** Before people are asked: whether the current roster could approve it. */
export function withPeople(draft: Draft, state: LiveAction, answer: Review): Need | Review {
  if (answer.verdict !== "escalate") return answer;
  const isRouted = listStageRules(answer).some(({ from }) => namesGroups(from));
  const left = apartOf(draft, answer, state);
  if (isNeed(left)) return left;
  if (!isRouted && left.apart === undefined) return answer;
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  const { apart = [] } = left;
  const fault = whyUnmeetable(answer, state.requester, { apart, roster: draft.state(ROSTER) });
  if (fault === undefined) return answer;
  const { args, revisions, risk, risks, shadow } = answer;
  const reason = `the policy asks for the impossible: ${fault}`;
  const said = { args, revisions, risk, risks, shadow, rule: "policy", reason };
  return { ...said, verdict: "block", invalidRevision: false };
}

/** Reviews an action with `args`: those that would run, as proposed, revised or edited. */
export function review(
  draft: Draft,
  id: string,
  args: Json,
  { rules, loaded }: Pick<Executor, "rules" | "loaded">,
): Need | Load | Review {
  const { tool, effectClass, agent, requester, requestId, within } = getLiveAction(draft, id);
  const known = { tool, effectClass, args, agent, requester, requestId, now: draft.now };
  if (within === undefined) return reviewAction(rules, { ...known, workflow: null, history: [] });
  const more = draft.need({ read: [workflowStream(within.workflow)] });
  if (more !== undefined) return more;
  const { name, generation, parties } = draft.state(workflowStream(within.workflow)) as LiveWorkflow;
  const workflow = { id: within.workflow, name, generation, poster: parties?.poster ?? "" };
  const asked = withHistory({ ...known, workflow }, () => historyOf(draft, id, within, loaded));
  const answer = reviewAction(rules, asked.input);
  return asked.missing() ?? answer;
}

/** Remarks recorded with the verdict. */
export function remarksIn({ risk, risks, shadow }: Review): Pick<ReviewFacts, "risk" | "risks" | "shadow"> {
  return {
    ...(risk === null ? {} : { risk }),
    ...(risks.length === 0 ? {} : { risks }),
    ...(shadow.length === 0 ? {} : { shadow }),
  };
}

export function reviewFacts(answer: Review, rules: ToolRules): ReviewFacts {
  const { verdict, rule, reason } = answer;
  return { verdict, rule, reason, ...limitIn(answer), ...versionsOf(rules), ...remarksIn(answer) };
}

/** The same for a request to approvers, with the expected costs. A start records what it reserves instead. */
export function askedFacts(answer: Review, rules: ToolRules): ReviewFacts {
  const costs = expectedCosts(rules, answer.args);
  return { ...reviewFacts(answer, rules), ...(costs.length === 0 ? {} : { costs }) };
}

function limitIn(answer: Review): Pick<ReviewFacts, "limitOf" | "limitBehind"> {
  if (answer.verdict !== "block") return {};
  const { limitOf, limitBehind } = answer;
  return {
    ...(limitOf === undefined ? {} : { limitOf }),
    ...(limitBehind === undefined ? {} : { limitBehind }),
  };
}

export const PREVIEW_MOVED = "what the preview showed has moved";

/** A preview for a new question is never reused to start by an approval: each approval has its own key. */
export const previewKey = (argsDigest: string, approval: string | null = null): string =>
  approval === null ? `preview/${argsDigest}` : `preview/${argsDigest}/${approval}`;

/** `approval`: the one that is about to be used. null: people are about to be asked. */
type PreviewOf = { readonly action: string; readonly args: Json; readonly approval: string | null };

/** `preview` is null if the tool declares none. */
export function previewNow(
  draft: Draft,
  { action, args, approval }: PreviewOf,
  { rules, loaded }: Pick<Executor, "rules" | "loaded">,
): Load | { readonly kind: "preview"; readonly preview: Preview | null } {
  if (rules.hasPreview !== true) return { kind: "preview", preview: null };
  const key = previewKey(digestOf(args), approval);
  const shown = loaded.get(key) as unknown as ShownPreview | undefined;
  if (shown !== undefined)
    return {
      kind: "preview",
      preview: { value: shown.value, failed: shown.failed, digest: digestOf(shown) },
    };
  const { requestId, agent } = getLiveAction(draft, action);
  return { kind: "load", key, preview: { action, requestId, agent, args } };
}

export const isSamePreview = (asked: Preview | undefined, now: Preview | null): boolean =>
  asked?.digest === now?.digest;
