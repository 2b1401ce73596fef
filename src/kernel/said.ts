/** What a person states with an action, as capabilities without a contract check it. */
import { HoldpointError } from "./errors.ts";
import { rejectInput } from "./fields.ts";
import { isPerson, isPrincipal, type Via } from "./principal.ts";
import { displayValue } from "./text.ts";

/** Channel through which the actor authenticated, if the program names one. */
export function checkVia(via: unknown): Via {
  if (via === undefined) return {};
  if (typeof via === "string" && /^[a-z][a-z0-9_.:-]{0,63}$/.test(via)) return { via };
  return rejectInput("A channel is a word of small letters and digits, such as cli.");
}

export const STATEMENT = "What is said";
export const STATEMENT_FIELDS = ["by", "reason"];

export type Said = { readonly by: string; readonly reason: string };

export function checkSaid({ by, reason }: Said): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${displayValue(by)}" is not a person: write person:<name>.`);
  const isText = typeof reason === "string" && reason.trim() !== "" && reason.isWellFormed();
  if (!isText || reason.length > 10_000)
    throw new HoldpointError("invalid_input", "A reason of at most 10000 characters is needed.");
}
