/**
 * Versions of a policy (digest, time, author, source), and the list of policies with the version in force. Documents
 * are stored under their digests. Which processes judge by a version is recorded in the same stream but not folded: the
 * end of a process is in the stream of its epoch.
 */
import { eventBody, type Fold } from "../kernel/stream.ts";

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
