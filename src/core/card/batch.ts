/**
 * What is approved only by itself, on its own page.
 *
 * A1. A row of a list shows the arguments, the agent's words, the rule and the risk, whole. What has more to look at is not approved
 *     from there, and neither is what cannot be taken back.
 */
import { canonicalJson } from "../canonical-json.ts";
import type { Json } from "../json.ts";

/** Characters that a row has room for. */
const MOST_ARGS = 600;
const MOST_WORDS = 300;

export type ToBatch = {
  readonly about: "action" | "checkpoint" | "question" | "intent";
  readonly isIrreversible: boolean;
  readonly isTyped: boolean;
  readonly hasPreview: boolean;
  readonly hasUndo: boolean;
  readonly args: Json;
  readonly says: string | null;
};

/** Null where nothing keeps it from being approved together with others. */
export function whyAlone({ about, args, says, ...it }: ToBatch): string | null {
  if (about === "question") return "it wants an answer of its own";
  if (about === "checkpoint") return "there is the state of its workflow to look at";
  if (it.isTyped) return "it cannot be taken back, and a word is typed before it is approved";
  if (it.isIrreversible) return "it cannot be taken back";
  if (it.hasPreview) return "there is to look at what the tool shows of it";
  if (it.hasUndo) return "there is to look at how it would be taken back";
  const isLong = canonicalJson(args).length > MOST_ARGS || (says ?? "").length > MOST_WORDS;
  return isLong ? "it is too long to be read in a list" : null;
}
