/** Reads actions and their receipts. Signs a receipt on request, with its path to a seal. */

import { actionTitle, titleInRow } from "../approvals/rules/title.ts";
import type { ReceiptBundle } from "../journal/receipt-jws.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { actionStream, streamName } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { sealTenant } from "../runtime/keyring.ts";
import { eachRow, rowPage, skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, readState } from "../runtime/store-access.ts";
import type { TenantStore, ViewQuery, ViewRow } from "../stores/store.ts";
import type { Action, ActionPage, ActionSummary } from "./contract.ts";
import { requestName } from "./rules/propose.ts";
import { type Receipt, receiptOf, receiptPayload } from "./rules/receipt.ts";
import { actionIdOf } from "./rules/start.ts";
import type { LiveAction } from "./state.ts";

const unknownAction = (id: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no action ${displayValue(id)}.`);

/** Finds an action by its id, its effect's id or the caller's request id. */
export async function findAction(place: TenantStore, id: string): Promise<string> {
  if (typeof id !== "string" || id === "") throw new HoldpointError("invalid_input", "An id is needed.");
  if (/^(act|eff)_[0-9A-Z]{26}$/.test(id)) return actionIdOf(id);
  const names = [requestName(id)];
  const found = await place.store.transact(place.tenant, { names }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.name(requestName(id)),
  }));
  if (found === undefined) throw new HoldpointError("unknown_id", `There is no action under "${id}".`);
  return found.id;
}

/** undefined while the effect has no outcome: not started, or still running. */
export async function getReceipt(place: TenantStore, id: string): Promise<Receipt | undefined> {
  const action = await findAction(place, id);
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") throw unknownAction(action);
  return "outcome" in state ? receiptOf(place.tenant, action, state) : undefined;
}

export async function requireReceipt(place: TenantStore, id: string): Promise<Receipt> {
  const receipt = await getReceipt(place, id);
  if (receipt !== undefined) return receipt;
  throw new HoldpointError("wrong_state", `There is no outcome of ${displayValue(id)} yet.`, {
    next: "Ask again when the effect has ended.",
  });
}

/** Seals first, so that the receipt includes its proof. */
export async function signedReceipt(runtime: Runtime, id: string): Promise<ReceiptBundle> {
  const receipt = await requireReceipt(runtime, id);
  await sealTenant(runtime);
  const stream = actionStream(receipt.action);
  const entries = await runtime.store.read(runtime.tenant, stream, { fromSeq: receipt.seq });
  const [outcome, ...later] = entries;
  if (outcome === undefined)
    throw new HoldpointError("store_corrupt", `The entry ${receipt.seq} of ${receipt.stream} is missing.`);
  const seal = await runtime.store.sealOver(runtime.tenant, outcome.position);
  const sealedAt = seal?.leaves.find((leaf) => leaf.stream === streamName(stream))?.seq ?? receipt.seq;
  const links = later.slice(0, sealedAt - receipt.seq).map((entry) => entry.header);
  // Loaded here because a program that only makes calls signs no receipt.
  const { signReceipt } = await import("../journal/receipt-jws.ts");
  const proof = seal === undefined ? undefined : { seal, links };
  return signReceipt(receiptPayload(receipt, outcome.hash), await runtime.signingKey(), proof);
}

const ACTIONS = "actions";
/** Fields that an action has only in some phases. */
const ABSENT = {
  verdict: null,
  code: null,
  reason: null,
  approval: null,
  effect: null,
  attempt: null,
  startedAt: null,
  reportBy: null,
  endedAt: null,
};

/** `held`: the code of what holds an open action. */
function summaryOf({ stream, bucket, at, data }: ViewRow): ActionSummary {
  const { epoch: _, held: code = null, reason, ...fields } = data;
  const known = { ...ABSENT, code, ...fields, reason: reason === "" ? null : (reason ?? null) };
  const named = { id: stream.id, phase: bucket, title: titleInRow(data) };
  return { ...named, ...known, proposedAt: at } as unknown as ActionSummary;
}

/** The approval that the action waits for, was refused by, or ran under. */
function approvalOf(state: LiveAction): string | null {
  if ("approval" in state) return state.approval;
  const grant = "effect" in state ? state.effect.grant : null;
  return grant?.kind === "approval" ? grant.approval : null;
}

function reviewIn({ review }: LiveAction): Action["review"] {
  if (review === null) return null;
  const { document, risk = null, ...facts } = review;
  return {
    limitOf: null,
    limitBehind: null,
    documents: document === undefined ? [] : [document],
    risks: risk === null ? [] : [risk],
    shadow: [],
    costs: [],
    ...facts,
    risk,
  };
}

async function effectIn(place: TenantStore, state: LiveAction): Promise<Action["effect"]> {
  if (!("effect" in state)) return null;
  const { reportBy = null, permit = null, told = null, probe, ...effect } = state.effect;
  const evidence = probe === null ? null : await loadValue(place, probe.evidence);
  return { ...effect, reportBy, permit, told, probe: probe && { ...probe, evidence } };
}

async function outcomeIn(place: TenantStore, state: LiveAction): Promise<Action["outcome"]> {
  if (!("outcome" in state)) return null;
  const { result, evidence, ...outcome } = state.outcome;
  return { ...outcome, result: await loadValue(place, result), evidence: await loadValue(place, evidence) };
}

async function actionView(place: TenantStore, id: string, state: LiveAction): Promise<Action> {
  const { phase, requestId, tool, effectClass, schema, agent, requester, undo } = state;
  const { argsDigest, proposedDigest, givenDigest, proposedAt, within, titleTemplate } = state;
  const args = await loadValue(place, state.args);
  return {
    id,
    phase,
    requestId,
    title: actionTitle(tool, titleTemplate, args),
    titleTemplate: titleTemplate ?? null,
    tool,
    effectClass,
    schema,
    agent,
    requester,
    args,
    rationale: state.says,
    argsHash: argsDigest.slice(0, 12),
    argsDigest,
    proposedDigest,
    givenDigest,
    proposedAt,
    executedFrom: state.from,
    workflow: within?.workflow ?? null,
    within: within ?? null,
    outside: state.outside === true,
    undo: undo === undefined ? null : { ...undo, args: await loadValue(place, undo.args) },
    approval: approvalOf(state),
    review: reviewIn(state),
    held: "held" in state ? state.held : null,
    effect: await effectIn(place, state),
    outcome: await outcomeIn(place, state),
    refusal: "refusal" in state ? state.refusal : null,
    refusedAt: "refusal" in state ? state.at : null,
  };
}

/** By action id, effect id or request id. */
export async function getAction(place: TenantStore, id: string): Promise<Action> {
  const action = await findAction(place, id);
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") throw unknownAction(id);
  // A copy: the next decision uses the state itself.
  return structuredClone(await actionView(place, action, state));
}

const MOST_AT_ONCE = 100;

/** By action id. An action that cannot be read here has none. Large arguments are not loaded for it. */
export async function readTitles(
  place: TenantStore,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  const read = async (id: string): Promise<void> => {
    const state = await skipUnreadable(readState(place, actionStream(id)));
    if (state === undefined || state.phase === "none") return;
    titles.set(id, actionTitle(state.tool, state.titleTemplate, state.args));
  };
  for (let from = 0; from < ids.length; from += MOST_AT_ONCE)
    await Promise.all(ids.slice(from, from + MOST_AT_ONCE).map(read));
  return titles;
}

/** One page of actions, of one phase or of all. `next`: cursor of the following page. */
export async function listActions(
  place: TenantStore,
  { phase, limit = 100, order, after }: ActionPage,
): Promise<{ readonly items: readonly ActionSummary[]; readonly next: string | null }> {
  const list = { view: ACTIONS, kind: "action", prefix: "act", bucket: phase } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after });
  return { items: rows.map(summaryOf), next };
}

export async function countActions(
  { store, tenant }: TenantStore,
  phases: readonly string[],
): Promise<number> {
  const counts = await Promise.all(phases.map((phase) => store.count(tenant, ACTIONS, phase)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Effects started by processes that have ended. The next process that executes takes them over. */
export async function abandonedActions(place: TenantStore): Promise<readonly ActionSummary[]> {
  const rows = await actionRows(place, "running");
  const local = rows.filter(({ data }) => data["reportBy"] === undefined);
  const epochs = [...new Set(local.map(({ data }) => String(data["epoch"])))];
  const held = await Promise.all(epochs.map((epoch) => place.store.epochHeld(epoch)));
  const gone = new Set(epochs.filter((_, index) => held[index] === false));
  return local.filter(({ data }) => gone.has(String(data["epoch"]))).map(summaryOf);
}

/** Every action in one phase, oldest first. `dueBy: null` excludes effects that outside agents perform and report. */
export async function actionRows(
  place: TenantStore,
  phase: "open" | "waiting" | "running" | "in_doubt",
  only: Pick<ViewQuery, "dueBy"> = {},
): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for await (const row of eachRow(place, { view: ACTIONS, bucket: phase, ...only })) rows.push(row);
  return rows;
}
