/**
 * Which versions of a policy were put in force, when and by whom. The documents themselves are kept under their digests. Who
 * judges by them stands in the same stream, and is not folded: a process ends in the stream of its epoch.
 */
import { eventBody, type Fold } from "../kernel/stream.ts";

export type PolicyVersion = {
  readonly digest: string;
  readonly at: number;
  readonly by: string;
  /** A file's name, or `code`. */
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
