/** Which versions of a policy were in force, since when and by whom. The documents themselves are kept under their digests. */
import { bodyOf, type Fold } from "./event.ts";

export type PolicyVersion = {
  readonly digest: string;
  readonly at: number;
  readonly by: string;
  /** A file's name, or `code`. */
  readonly source: string;
};
/** Oldest first; the last one is in force. */
export type PolicyState = { readonly versions: readonly PolicyVersion[] };

const KEPT_VERSIONS = 100;

export const policyFold: Fold<PolicyState> = {
  version: 1,
  initial: { versions: [] },
  evolve(state, event) {
    const { digest, by, source } = bodyOf("A policy", event, ["policy.adopted"]);
    const version = { digest: String(digest), at: event.at, by: String(by), source: String(source) };
    return { versions: [...state.versions, version].slice(-KEPT_VERSIONS) };
  },
};
