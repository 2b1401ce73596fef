/** Which scope reads about what: streams that are not named here are the journal's readers' alone. */

import { STREAM_KINDS, type StreamKind } from "../../kernel/stream.ts";
import type { Scope } from "../../people/rules/scopes.ts";
import type { Who } from "../authenticate.ts";

const READ_BY: { readonly [kind in StreamKind]?: Scope } = {
  action: "actions:read",
  alert: "alerts:read",
  approval: "approvals:read",
  budget: "budgets:read",
  grant: "grants:read",
  intent: "intents:read",
  policy: "policies:read",
  switch: "switch:read",
  workflow: "workflows:read",
};

export const scopeOf = (kind: StreamKind): Scope => READ_BY[kind] ?? "journal:read";

/** Whoever reads the journal reads all of it. */
export const mayHear = (who: Pick<Who, "can">, kind: StreamKind): boolean =>
  who.can(scopeOf(kind)) || who.can("journal:read");

export const kindsFor = (who: Pick<Who, "can">): readonly StreamKind[] =>
  STREAM_KINDS.filter((kind) => mayHear(who, kind));
