/**
 * Versions of a policy (digest, time, author, source), and the list of policies with the version in force. Documents
 * are stored under their digests. Which processes judge by a version is recorded in the same stream but not folded: from
 * when a process can perform effects until its epoch ends, which is in the stream of that epoch, or it leaves the version.
 */
import type { Json } from "../kernel/json.ts";
import { eventBody, type Fold, policyStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";

type PolicyVersion = {
  readonly digest: string;
  readonly at: number;
  readonly by: string;
  /** File name, or `code`. */
  readonly source: string;
};
/** Oldest first. */
export type PolicyState = { readonly versions: readonly PolicyVersion[] };

const KEPT_VERSIONS = 100;
const POLICY_EVENTS = ["policy.adopted", "policy.taken", "policy.left"];

export const policyFold: Fold<PolicyState> = {
  version: 2,
  initial: { versions: [] },
  evolve(state, event) {
    const { digest, by, source } = eventBody("A policy", event, POLICY_EVENTS);
    if (event.type !== "policy.adopted") return state;
    const version = { digest: String(digest), at: event.at, by: String(by), source: String(source) };
    return { versions: [...state.versions, version].slice(-KEPT_VERSIONS) };
  },
};

export const policiesView = {
  view: "policies",
  kind: "policy",
  version: 1,
  row(_id: string, state: PolicyState) {
    const [first] = state.versions;
    const now = state.versions.at(-1);
    if (first === undefined || now === undefined) return undefined;
    const data = { digest: now.digest, by: now.by, source: now.source, since: now.at };
    return { bucket: "in_force", at: first.at, due: null, data };
  },
} as const;

type AdoptPolicy = {
  readonly name: string;
  readonly digest: string;
  readonly document: Json;
  readonly by: string;
  readonly source: string;
};

type AdoptionResult = { readonly kind: "adopted" | "in_force"; readonly before: string | null };

/** Records that a document is in force from now on, unless it already is. */
export function adoptPolicy(draft: Draft, command: AdoptPolicy): Need | AdoptionResult {
  const ref = policyStream(command.name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const before = draft.state(ref).versions.at(-1)?.digest ?? null;
  if (before === command.digest) return { kind: "in_force", before };
  const { digest, by, source } = command;
  const document = draft.keep(command.document);
  draft.append(ref, [{ type: "policy.adopted", tv: 1, body: { digest, by, source, document } }]);
  return { kind: "adopted", before };
}

/** A version, and the source from which the process read it. */
export type UsedVersion = { readonly name: string; readonly digest: string; readonly source: string };
type PolicyUser = { readonly epoch: string; readonly by: string };

/** The process judges by this version until its epoch ends or it leaves the version. */
export function takePolicy(
  draft: Draft,
  { name, digest, source }: UsedVersion,
  user: PolicyUser,
): Need | undefined {
  const ref = policyStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "policy.taken", tv: 1, body: { digest, source, ...user } }]);
  return undefined;
}

/** The process no longer judges by this version: another version, or a policy of another name, replaced it. */
export function leavePolicy(
  draft: Draft,
  { name, digest }: Pick<UsedVersion, "name" | "digest">,
  { epoch }: Pick<PolicyUser, "epoch">,
): Need | undefined {
  const ref = policyStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "policy.left", tv: 1, body: { digest, epoch } }]);
  return undefined;
}
