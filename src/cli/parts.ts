/** Commands of several parts, such as `keys issue`: which part is meant, and which flags go with it. */
import { didYouMean } from "../kernel/spelling.ts";
import { visible } from "../kernel/text.ts";

import { COMMON_FLAGS, type Context, flag, isOn, word } from "./command.ts";
import { CommandError } from "./failure.ts";

export type Part = {
  /** The flags that go with it, and those of them that it needs. */
  readonly flags: readonly string[];
  readonly needs?: readonly string[];
  /** How many words follow its name. */
  readonly words: 0 | 1;
  run(context: Context): Promise<number>;
};

function checkFlags(context: Context, name: string, { flags, needs = [] }: Part): void {
  const goes = (one: string) => Object.hasOwn(COMMON_FLAGS, one) || flags.includes(one);
  const extra = [...context.values.keys()].find((one) => !goes(one));
  if (extra !== undefined)
    throw new CommandError("usage", `--${extra} does not go with "${name}".`, "Leave it out.");
  const missing = needs.filter((one) => !isOn(context, one) || (flag(context, one) ?? "x").trim() === "");
  const [command = ""] = name.split(" ");
  if (missing.length === 0) return;
  const flagged = missing.map((one) => `--${one}`).join(", ");
  throw new CommandError("usage", `${name} needs ${flagged}.`, `Try: holdpoint ${command} --help`);
}

/** Runs the part that the first word names, or `list` without one. */
export function runPart(
  context: Context,
  command: string,
  parts: { readonly [name: string]: Part },
): Promise<number> {
  const name = word(context) === "" ? "list" : word(context);
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part === undefined)
    throw new CommandError(
      "usage",
      `There is no "${command} ${visible(name)}"${didYouMean(name, Object.keys(parts))}.`,
      `There are: ${Object.keys(parts).join(", ")}.`,
    );
  const extra = word(context, 1 + part.words);
  if (extra !== "")
    throw new CommandError(
      "usage",
      `"${visible(extra)}" is one word too many.`,
      `Try: holdpoint ${command} --help`,
    );
  checkFlags(context, `${command} ${name}`, part);
  return part.run(context);
}
