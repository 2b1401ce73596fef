/** The past on a card: earlier calls of the same tool by the agent, and the policy's reviews of the question. */

import { documentsNamed, type LiveAction, type ReviewFacts } from "../effects/state.ts";
import type { ActionEvent } from "../effects/stream.ts";

import { actionStream, streamName } from "../kernel/stream.ts";
import { loadPolicyNames, type PolicyNames } from "../policy/versions.ts";
import { skipUnreadable } from "../runtime/lists.ts";
import type { StateOf } from "../states.ts";
import type { TenantStore } from "../stores/store.ts";
import type { Card } from "./card-schema.ts";
import type { LiveApproval } from "./state.ts";

/** The states of many actions in one snapshot. */
export function readActions(
  { store, tenant }: TenantStore,
  actions: readonly string[],
): Promise<readonly StateOf<"action">[]> {
  const read = actions.map(actionStream);
  return store.transact(tenant, { read }, (sight) => ({
    kind: "commit",
    append: [],
    result: read.map((ref) => sight.state(ref)),
  }));
}

function approvalIn(state: StateOf<"action"> | undefined): string | null {
  if (state?.phase === "waiting" || state?.phase === "refused") return state.approval;
  const grant = state !== undefined && "effect" in state ? state.effect.grant : undefined;
  return grant?.kind === "approval" ? grant.approval : null;
}

const SCANNED = 500;
const LATEST = 5;

/** Excludes the action itself. `before`: when people were asked about it; later proposals are left out. */
export async function readHistory(
  { store, tenant }: TenantStore,
  action: string,
  { agent, tool }: LiveAction,
  before: number,
): Promise<NonNullable<Card["history"]>> {
  const after = { at: before, stream: streamName(actionStream(action)) };
  const rows = await store.query(tenant, { view: "actions", order: "newest", limit: SCANNED, after });
  const own = rows.filter(
    ({ stream, data }) => data["agent"] === agent && data["tool"] === tool && stream.id !== action,
  );
  const count = (phase: LiveAction["phase"]) => own.filter(({ bucket }) => bucket === phase).length;
  const shown = own.slice(0, LATEST);
  const ids = shown.map(({ stream }) => stream.id);
  const states = (await skipUnreadable(readActions({ store, tenant }, ids))) ?? [];
  return {
    agent,
    tool,
    total: own.length,
    applied: count("applied"),
    refused: count("refused"),
    inDoubt: count("in_doubt"),
    isAll: rows.length < SCANNED,
    latest: shown.map(({ stream, bucket, at, data }, index) => ({
      action: stream.id,
      approval: approvalIn(states[index]),
      phase: bucket,
      at,
      args: String(data["args"] ?? "").toWellFormed(),
    })),
  };
}

type RecordedAction = ActionEvent & { readonly at: number };
const PAGE = 100;

/** Events before the start, since nothing is reviewed after it. Skips erased bodies. */
async function* untilStarted({ store, tenant }: TenantStore, action: string): AsyncGenerator<RecordedAction> {
  for (let fromSeq = 1; ; fromSeq += PAGE) {
    const page = await store.read(tenant, actionStream(action), { fromSeq, limit: PAGE });
    for (const { type, at, body } of page) {
      if (type === "effect.started") return;
      if (body !== null) yield { type, at, body: JSON.parse(body) } as RecordedAction;
    }
    if (page.length < PAGE) return;
  }
}

/**
 * Policy reviews of one approval: the one that led to the request, then one per change by people. Oldest first, up to
 * the review of what the approval asks now: a later edit is not included.
 */
export async function readReviews(
  place: TenantStore,
  id: string,
  { action, argsDigest }: Pick<LiveApproval, "action" | "argsDigest">,
) {
  const reviews: (Omit<ReviewFacts, "risk"> & Omit<Card["reviews"][number], "policyName">)[] = [];
  let editedBy: string | null = null;
  let reviewed = "";
  let upToNow = 0;
  for await (const { type, at, body } of untilStarted(place, action)) {
    if (type === "action.proposed" || type === "action.revised") reviewed = body.argsDigest;
    if (type === "action.revised" && body.by !== "policy") editedBy = body.by;
    if (type !== "action.reviewed" || body.approval !== id) continue;
    reviews.push({ ...body, at, editedBy, risk: body.risk ?? null });
    if (reviewed === argsDigest) upToNow = reviews.length;
  }
  return Promise.all(
    reviews.slice(0, upToNow).map(async (review) => ({
      ...review,
      policyName: await policyNameOf(place, review),
    })),
  );
}

/** The name of a digest never changes, so it is looked up once. */
const kept = new WeakMap<TenantStore["store"], Map<string, PolicyNames>>();

async function namesFor(place: TenantStore, digests: readonly string[]): Promise<PolicyNames> {
  const all = kept.get(place.store) ?? new Map<string, PolicyNames>();
  kept.set(place.store, all);
  const known = all.get(place.tenant);
  if (known !== undefined && digests.every((digest) => known.has(digest))) return known;
  const names = await loadPolicyNames(place);
  all.set(place.tenant, names);
  return names;
}

type AskedPolicies = Pick<ReviewFacts, "policy" | "documents" | "document">;

/** Names of the documents that reviewed it, as far as they are known here. */
export function policyNamesFor(place: TenantStore, asked: AskedPolicies | null): Promise<PolicyNames> {
  const isNamed = asked?.documents !== undefined || asked?.document !== undefined;
  // In older entries the policy may itself be a document: the names already known are enough then.
  return namesFor(place, asked !== null && isNamed ? documentsNamed(asked) : []);
}

/** Name of the policy that reviewed it. null: only code did, or the documents' names are not known here. */
export async function policyNameOf(place: TenantStore, asked: AskedPolicies): Promise<string | null> {
  const names = await policyNamesFor(place, asked);
  const found = documentsNamed(asked).flatMap((digest) => names.get(digest) ?? []);
  return found.length === 0 ? null : [...new Set(found)].join(", ");
}
