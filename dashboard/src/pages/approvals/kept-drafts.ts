/**
 * What somebody has written and not sent, while they look at something else. It is kept in this page, and nowhere else.
 *
 * D1. It is a change of the arguments that were shown when it was written: where those are others now, it is not put in again. Nor is
 *     a text that was written of another binding.
 */
import type { Approval } from "../../api/approvals.ts";
import { isSame, type Json, jsonOf } from "../../format/json.ts";

type Of = Pick<Approval, "request_id" | "args" | "status">;
type Kept = { readonly args: Json; readonly value: Json };

const kept = new Map<string, Kept>();
const texts = new Map<string, string>();

type Bound = Pick<Approval, "request_id" | "binding">;
const nameOf = ({ request_id, binding }: Bound, what: string): string => `${what} ${request_id} ${binding}`;

export const keptText = (of: Bound, what: string): string => texts.get(nameOf(of, what)) ?? "";
export const keepText = (of: Bound, what: string, text: string): void =>
  void texts.set(nameOf(of, what), text);

/** `of` is the approval as they looked at it. */
export const keepDraft = ({ request_id, args }: Of, value: Json): void =>
  void kept.set(request_id, { args: jsonOf(args), value });
export const forgetDraft = ({ request_id }: Of): void => void kept.delete(request_id);

/** `changed`: there is one, of what is asked no more. */
export function keptDraft({ request_id, args, status }: Of): { readonly value: Json } | "changed" | null {
  const found = kept.get(request_id);
  if (found === undefined || status !== "pending") return null;
  return isSame(found.args, jsonOf(args)) ? { value: found.value } : "changed";
}
