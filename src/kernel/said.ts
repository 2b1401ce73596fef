/** What a person states with an action, as capabilities without a contract check it. */
import { HoldpointError } from "./errors.ts";
import { isPerson, isPrincipal } from "./principal.ts";
import { displayValue } from "./text.ts";

export type Said = { readonly by: string; readonly reason: string };

export function checkSaid({ by, reason }: Said): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${displayValue(by)}" is not a person: write person:<name>.`);
  const isText = typeof reason === "string" && reason.trim() !== "" && reason.isWellFormed();
  if (!isText || reason.length > 10_000)
    throw new HoldpointError("invalid_input", "A reason of at most 10000 characters is needed.");
}
