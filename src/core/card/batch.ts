/**
 * What is decided only by itself, on its own page.
 *
 * A1. A row of a list shows the arguments, the agent's words, the rule, the risk and the costs, whole. What has more is not approved
 *     from there, and neither is what cannot be taken back.
 * A2. What is rejected from there does not run, and nothing else follows. What somebody wrote about it is read before either.
 */
import { canonicalJson } from "../canonical-json.ts";
import type { Json } from "../json.ts";
import { visible, visibleJson } from "../visible.ts";

/** Characters that a row has room for. */
const MOST_ARGS = 600;
const MOST_WORDS = 300;

export type ToBatch = {
  readonly about: "action" | "checkpoint" | "question" | "intent";
  readonly isIrreversible: boolean;
  readonly isTyped: boolean;
  readonly hasPreview: boolean;
  readonly hasUndo: boolean;
  /** Policy or people changed it since it was proposed. */
  readonly isChanged: boolean;
  readonly hasComments: boolean;
  readonly args: Json;
  readonly says: string | null;
};

/** By what there is to read: a character that cannot be seen is written out. */
const isLonger = (text: string, most: number, written: (text: string) => string): boolean =>
  text.length > most || written(text).length > most;

const isLong = ({ args, says }: Pick<ToBatch, "args" | "says">): boolean =>
  isLonger(canonicalJson(args), MOST_ARGS, visibleJson) || isLonger(says ?? "", MOST_WORDS, visible);

const COMMENTED = "there are comments to read";

/** Null where nothing keeps it from being approved together with others. */
export function whyAlone({ about, ...it }: ToBatch): string | null {
  if (about === "question") return "it wants an answer of its own";
  if (about === "checkpoint") return "there is the state of its workflow to look at";
  if (it.isTyped) return "it cannot be taken back, and a word is typed before it is approved";
  if (it.isIrreversible) return "it cannot be taken back";
  if (it.hasPreview) return "there is to look at what the tool shows of it";
  if (it.hasUndo) return "there is to look at how it would be taken back";
  if (it.hasComments) return COMMENTED;
  if (it.isChanged) return "it was changed since it was proposed";
  return isLong(it) ? "it is too long to be read in a list" : null;
}

/** Null where nothing keeps it from being rejected together with others. */
export function whyRejectAlone({
  about,
  hasComments,
}: Pick<ToBatch, "about" | "hasComments">): string | null {
  if (about === "checkpoint") return "there is to look at what a rejection does to its workflow";
  if (about === "question") return "its workflow goes on without an answer";
  return hasComments ? COMMENTED : null;
}

/** Whether a row shows all that it is about. */
export const isWholeInRow = (it: Pick<ToBatch, "args" | "says" | "isChanged">): boolean =>
  !it.isChanged && !isLong(it);
