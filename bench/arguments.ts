/** The command line. */
import { parseArgs } from "node:util";
import { BENCHES, type Bench } from "./cases.ts";
import type { Span } from "./recorder.ts";

export type Pace = Span & { readonly warmUpMs: number; readonly rounds: number };

const FULL: Pace = { warmUpMs: 5_000, runUpMs: 500, windowMs: 20_000, rounds: 3 };
const QUICK: Pace = { warmUpMs: 400, runUpMs: 100, windowMs: 600, rounds: 3 };

export type Wanted =
  | { readonly kind: "help" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "run"; readonly only: Bench | null; readonly json: boolean; readonly pace: Pace };

export const HELP = `npm run bench -- [--quick] [--only <bench>] [--json]

Holdpoint, the raw stores and other systems beside it, in one run on this machine, equally durable.
The first run installs the other systems into bench/node_modules.

  --quick         windows of ${QUICK.windowMs} ms instead of ${FULL.windowMs / 1_000} s: everything in under two minutes
  --only <bench>  one of ${BENCHES.join(", ")}
  --json          one line of JSON for each measurement, nothing else on standard output
  --help          this text
`;

const OPTIONS = {
  quick: { type: "boolean", default: false },
  only: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

export function readArguments(args: readonly string[]): Wanted {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.help) return { kind: "help" };
    const only = BENCHES.find((bench) => bench === values.only) ?? null;
    if (values.only !== undefined && only === null)
      return {
        kind: "refused",
        reason: `There is no bench "${values.only}"; there are ${BENCHES.join(", ")}.`,
      };
    return { kind: "run", only, json: values.json, pace: values.quick ? QUICK : FULL };
  } catch (error) {
    return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
  }
}
