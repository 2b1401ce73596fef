/**
 * The expressions of a standing grant: which arguments it covers, and what one use of it comes to. They are CEL over
 * `args`, as an action would run with them; secrets are handles there.
 *
 * X1. What cannot be evaluated covers nothing: an error is never a yes.
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { errorText } from "../error-text.ts";
import type { Json } from "../json.ts";

type Compiled = (args: Json) => unknown;

const MOST_CHARACTERS = 1_000;
/** Each of them may walk a whole list of the arguments, one inside the other. */
const MOST_MACROS = 2;
const MACROS: readonly string[] = ["all", "exists", "exists_one", "map", "filter"];

const environment = new Environment({ limits: { maxAstNodes: 300, maxDepth: 50 } }).registerVariable(
  "args",
  "dyn",
);

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** Names of everything that an expression calls. */
function callsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(callsIn);
  if (!isNode(node)) return [];
  const own = node.op === "call" || node.op === "rcall" ? [String(node.args[0])] : [];
  return [...own, ...callsIn(node.args)];
}

function faultOf(ast: ASTNode): string | undefined {
  const calls = callsIn(ast);
  if (calls.includes("matches")) return "matches is not known here; compare whole texts or their beginnings";
  const macros = calls.filter((name) => MACROS.includes(name)).length;
  return macros > MOST_MACROS
    ? `it walks lists ${macros} times; at most ${MOST_MACROS} are taken`
    : undefined;
}

/** A text is why it is no expression of that type. */
function compile(text: string, types: readonly string[]): Compiled | string {
  if (text.trim() === "") return "it is empty";
  if (text.length > MOST_CHARACTERS)
    return `it has ${text.length} characters; at most ${MOST_CHARACTERS} are taken`;
  try {
    const parsed = environment.parse(text);
    const checked = parsed.check();
    if (!checked.valid) return errorText(checked.error).split("\n")[0] ?? "";
    if (!types.includes(String(checked.type)))
      return `it gives a ${String(checked.type)} where a ${types[0]} is needed`;
    return faultOf(parsed.ast) ?? ((args) => parsed({ args }));
  } catch (error) {
    return errorText(error).split("\n")[0] ?? "";
  }
}

const compileWhen = (text: string) => compile(text, ["bool", "dyn"]);
const compileAmount = (text: string) => compile(text, ["double", "int", "uint", "dyn"]);

/** Why a text cannot be the `when` or the `amount` of a grant; undefined when it can. */
export function whenFault(text: string): string | undefined {
  const compiled = compileWhen(text);
  return typeof compiled === "string" ? compiled : undefined;
}

export function amountFault(text: string): string | undefined {
  const compiled = compileAmount(text);
  return typeof compiled === "string" ? compiled : undefined;
}

function evaluate(compiled: Compiled | string, args: Json): unknown {
  if (typeof compiled === "string") return undefined;
  try {
    return compiled(args);
  } catch {
    return undefined;
  }
}

export function holds(when: string | null, args: Json): boolean {
  return when === null || evaluate(compileWhen(when), args) === true;
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
const MICRO_DIGITS = 6;

/** A number of units in micros, rounded up: what is shown as 0.1 is 100000 of them. */
function microsOf(units: unknown): bigint | undefined {
  if (typeof units === "bigint") return units < 0n ? undefined : units * 1_000_000n;
  const [, whole, rest = "", exponent = "0"] =
    (typeof units === "number" && DECIMAL.exec(String(units))) || [];
  if (whole === undefined) return undefined;
  const shift = Number(exponent) + MICRO_DIGITS - rest.length;
  const digits = BigInt(whole + rest);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  return (digits + unit - 1n) / unit;
}

/** What one use comes to; undefined where that cannot be said. */
export function amountIn(amount: string, args: Json): bigint | undefined {
  return microsOf(evaluate(compileAmount(amount), args));
}
