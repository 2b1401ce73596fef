/** Every policy by its name, with the version in force. */
import type { PolicyState } from "../core/policy-record.ts";

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
