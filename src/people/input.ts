import { rejectInput } from "../kernel/fields.ts";
import type { Via } from "../kernel/principal.ts";

/** How somebody had shown who they are, where the program says so. */
export function checkVia(via: unknown): Via {
  if (via === undefined) return {};
  if (typeof via === "string" && /^[a-z][a-z0-9_.:-]{0,63}$/.test(via)) return { via };
  return rejectInput("A channel is a word of small letters and digits, such as cli.");
}
