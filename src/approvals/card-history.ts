/** What the same agent had proposed with the same tool before something was asked, and how that stands now: as far as the latest say. */

import type { ActionEventOf, ReviewFacts } from "../core/action/events.ts";
import { documentsNamed } from "../core/action/review-facts.ts";
import type { LiveAction } from "../core/action/state.ts";
import { actionStream, streamName } from "../core/stream.ts";
import { type PolicyNames, policyNames } from "../engine/backtest/kept-policies.ts";
import { unlessLeftAlone } from "../engine/left-alone.ts";
import type { Runtime } from "../engine/runtime.ts";
import type { Store, ViewRow } from "../stores/store.ts";
import type { LiveApproval } from "./state.ts";

export type Past = {
  readonly action: string;
  readonly approval: string | null;
  readonly phase: string;
  readonly at: number;
  /** The beginning of its arguments. */
  readonly args: string;
};

export type AgentHistory = {
  readonly agent: string;
  readonly tool: string;
  readonly total: number;
  readonly applied: number;
  readonly refused: number;
  readonly inDoubt: number;
  /** Nothing older was left out. */
  readonly isAll: boolean;
  readonly latest: readonly Past[];
};

const SCANNED = 500;
const LATEST = 5;

type Place = Pick<Runtime, "store" | "tenant">;

function approvalOf(state: LiveAction): string | null {
  if (state.phase === "waiting" || state.phase === "refused") return state.approval;
  if (!("effect" in state)) return null;
  const { grant } = state.effect;
  return grant.kind === "approval" ? grant.approval : null;
}

async function approvalsOf({ store, tenant }: Place, rows: readonly ViewRow[]) {
  const read = rows.map(({ stream }) => actionStream(stream.id));
  return store.transact(tenant, { read }, (sight) => {
    const states = read.map((ref) => sight.state(ref));
    const result = states.map((state) => (state.phase === "none" ? null : approvalOf(state)));
    return { kind: "commit", append: [], result };
  });
}

type Before = Pick<LiveAction, "agent" | "tool"> & { readonly action: string; readonly at: number };

/** Beside the action itself. `at` is when people were asked about it: what came after is not before it. */
export async function agentHistory(
  place: Place,
  { agent, tool, action, at: asked }: Before,
): Promise<AgentHistory> {
  const after = { at: asked, stream: streamName(actionStream(action)) };
  const query = { view: "actions", order: "newest", limit: SCANNED, after } as const;
  const rows = await place.store.query(place.tenant, query);
  const own = rows.filter(
    ({ stream, data }) => data["agent"] === agent && data["tool"] === tool && stream.id !== action,
  );
  const count = (phase: LiveAction["phase"]) => own.filter(({ bucket }) => bucket === phase).length;
  const shown = own.slice(0, LATEST);
  const approvals = (await unlessLeftAlone(approvalsOf(place, shown))) ?? [];
  const latest = shown.map(({ stream, bucket, at, data }, index) => ({
    ...{ action: stream.id, approval: approvals[index] ?? null, phase: bucket, at },
    args: String(data["args"] ?? ""),
  }));
  return {
    ...{ agent, tool, total: own.length, latest, isAll: rows.length < SCANNED },
    ...{ applied: count("applied"), refused: count("refused"), inDoubt: count("in_doubt") },
  };
}

/** What policy said of what one approval asks: of it as people were asked first, and of it as each of them changed it. */

export type CardReview = ReviewFacts & {
  readonly at: number;
  /** Who had changed what was reviewed; null where nobody had since it was proposed. */
  readonly editedBy: string | null;
  /** Null where only code was asked, or what its documents are called is not known. */
  readonly policyName: string | null;
};

type Found = Omit<CardReview, "policyName"> & { readonly argsDigest: string };

const PAGE = 100;

type Told = { readonly type: string; readonly at: number; readonly body: object };

/** Nothing is reviewed any more once it was started. What was erased says nothing. */
async function* untilStarted({ store, tenant }: Place, action: string): AsyncGenerator<Told> {
  for (let fromSeq = 1; ; fromSeq += PAGE) {
    const page = await store.read(tenant, actionStream(action), { fromSeq, limit: PAGE });
    for (const { header, body } of page) {
      const { type, at } = JSON.parse(header) as Told;
      if (type === "effect.started") return;
      if (body !== null) yield { type, at, body: JSON.parse(body) as object };
    }
    if (page.length < PAGE) return;
  }
}

async function allOf(place: Place, action: string, id: string): Promise<readonly Found[]> {
  const found: Found[] = [];
  let argsDigest = "";
  let editedBy: string | null = null;
  for await (const { type, at, body } of untilStarted(place, action)) {
    if (type === "action.proposed") ({ argsDigest } = body as ActionEventOf<"action.proposed">["body"]);
    if (type === "action.revised") {
      const { by, argsDigest: to } = body as ActionEventOf<"action.revised">["body"];
      argsDigest = to;
      if (by !== "policy") editedBy = by;
    }
    if (type !== "action.reviewed") continue;
    const { approval, ...review } = body as ActionEventOf<"action.reviewed">["body"];
    if (approval === id) found.push({ ...review, at, editedBy, argsDigest });
  }
  return found;
}

/** Oldest first, up to the one of what the approval asks now: an edit that came in since is not among them. */
export async function reviewsOf(
  place: Place,
  id: string,
  { action, argsDigest }: LiveApproval,
): Promise<readonly CardReview[]> {
  const all = await allOf(place, action, id);
  const last = all.findLastIndex((one) => one.argsDigest === argsDigest);
  return Promise.all(
    all.slice(0, last + 1).map(async ({ argsDigest: _, ...review }) => ({
      ...review,
      policyName: await policyNameOf(place, review),
    })),
  );
}

/** The name of the policy that was asked. What a digest is called never changes, so it is looked up once. */

const kept = new WeakMap<Store, Map<string, PolicyNames>>();

async function namesFor(place: Place, digests: readonly string[]): Promise<PolicyNames> {
  const all = kept.get(place.store) ?? new Map<string, PolicyNames>();
  kept.set(place.store, all);
  const known = all.get(place.tenant);
  if (known !== undefined && digests.every((digest) => known.has(digest))) return known;
  const names = await policyNames(place);
  all.set(place.tenant, names);
  return names;
}

/** null where only code was asked, or what the documents are called is not known here. */
export async function policyNameOf(
  place: Place,
  asked: Pick<ReviewFacts, "policy" | "documents" | "document">,
): Promise<string | null> {
  const isNamed = asked.documents !== undefined || asked.document !== undefined;
  const digests = documentsNamed(asked);
  // Of older entries the policy may be a document: whatever is known of it then is enough.
  const names = await namesFor(place, isNamed ? digests : []);
  const found = digests.flatMap((digest) => names.get(digest) ?? []);
  return found.length === 0 ? null : [...new Set(found)].join(", ");
}
