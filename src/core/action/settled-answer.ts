/** What a caller is told of an action that has come to rest, as JSON; a large result stands in it as a reference. */
import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Refusal, refusal } from "../../kernel/refusals.ts";

import type { Grant } from "./events.ts";
import { receiptOf } from "./receipt.ts";
import type { LiveAction } from "./state.ts";

export type SettledAnswer =
  | {
      readonly executed: true;
      readonly result: Json;
      readonly receipt: JsonObject;
      readonly action: string;
      readonly notes?: readonly string[];
    }
  | (Refusal & { readonly executed: false; readonly action: string; readonly approval: string | null })
  | {
      readonly executed: "in_doubt";
      readonly reason: string;
      readonly next: string;
      readonly receipt: JsonObject;
      readonly action: string;
      readonly effect: string;
    };

/** What the people who approved it noted, for whoever asked; nothing where they noted nothing. */
export function notesIn({ grant }: { readonly grant: Grant }): { readonly notes?: readonly string[] } {
  return grant.kind === "approval" && grant.notes.length > 0 ? { notes: [...grant.notes] } : {};
}

export function refusedAnswer(action: string, why: Refusal, approval: string | null = null): SettledAnswer {
  return { executed: false, ...why, action, approval };
}

/** The answer that an ended action has for ever; undefined while it has none. */
export function settledAnswer(tenant: string, action: string, state: LiveAction): SettledAnswer | undefined {
  switch (state.phase) {
    case "applied":
      return {
        executed: true,
        result: state.outcome.result,
        receipt: receiptOf(tenant, action, state),
        action,
        ...notesIn(state.effect),
      };
    case "not_applied": {
      const { grant } = state.effect;
      const why = refusal("not_applied", `tool ${state.tool}`, state.outcome.reason);
      return refusedAnswer(action, why, grant.kind === "approval" ? grant.approval : null);
    }
    case "refused":
      return refusedAnswer(action, state.refusal, state.approval);
    case "in_doubt": {
      const { id: effect } = state.effect;
      const { reason } = state.outcome;
      const next = `Find out what happened, then: holdpoint resolve ${effect} applied|not_applied --reason "…"`;
      const receipt = receiptOf(tenant, action, state);
      return { executed: "in_doubt", reason, next, receipt, action, effect };
    }
    default:
      return undefined;
  }
}
