/**
 * Business identity: the same thing under a new request id.
 *
 * Y1. Checked when it is proposed and again when it starts, over the arguments that would run: an edit or a revision may
 *     have made it into something that is being done already.
 * Y2. What stands in the way is an action under way or in doubt, or one done within the window, whose own final arguments
 *     have the same identity.
 */

import type { Json } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import { actionStream } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { Dedupe, ToolRules } from "../../policy/rules/tool-rules.ts";
import { type Refused, refuse } from "./refuse.ts";
import type { ActionState } from "./state.ts";

const GONE: readonly ActionState["phase"][] = ["none", "refused", "not_applied"];

function standsInTheWay(first: ActionState, now: number, windowMs: number): boolean {
  if (GONE.includes(first.phase)) return false;
  return first.phase !== "applied" || now < first.outcome.at + windowMs;
}

function identityOf(rules: ToolRules, args: Json): Dedupe | undefined | string {
  try {
    return rules.dedupe(args);
  } catch (error) {
    return `the tool's dedupe failed: ${errorText(error)}`;
  }
}

/** It was proposed under this identity, but an edit may have made something else of it. */
function isStill(rules: ToolRules, first: ActionState, key: string): boolean {
  if (first.phase === "none" || isArtifactRef(first.args)) return first.phase !== "none";
  const identity = identityOf(rules, first.args);
  return typeof identity !== "object" || identity.key === key;
}

/** Refuses what is being done or was done a moment ago; otherwise leads the business name to this action. */
export function checkDedupe(
  draft: Draft,
  id: string,
  rules: ToolRules,
  args: Json,
): Need | Refused | undefined {
  const identity = identityOf(rules, args);
  if (identity === undefined) return undefined;
  const ref = actionStream(id);
  if (typeof identity === "string")
    return refuse(draft, ref, { code: "blocked", by: "policy", reason: identity });
  const name = `dedupe:${rules.name}:${identity.key}`;
  const unnamed = draft.need({ names: [name] });
  if (unnamed !== undefined) return unnamed;
  const before = draft.lookUp(name);
  if (before !== undefined && before.id !== id) {
    const more = draft.need({ read: [before] });
    if (more !== undefined) return more;
    const first = draft.state(actionStream(before.id));
    if (
      "proposedAt" in first &&
      standsInTheWay(first, draft.now, identity.windowMs) &&
      isStill(rules, first, identity.key)
    ) {
      const since = new Date(first.proposedAt).toISOString();
      return refuse(draft, ref, {
        code: "duplicate",
        by: "dedupe",
        reason: `${before.id} is the same, from ${since}`,
      });
    }
  }
  draft.take(name, ref);
  return undefined;
}
