/**
 * Expressions the slow and obvious way: a tree is walked for each action, everything in it is computed, and an error is a
 * value. Shares nothing with `src/policy`.
 */
import type { Json } from "../../src/kernel/json.ts";
import type { Tree } from "./policy-draw-expression.ts";
import { calculateTime, ERROR, type Outcome, partOf, readMoment, readSpan } from "./policy-reference-time.ts";

export { ERROR, type Outcome };
export type World = Readonly<Record<string, unknown>>;

const isNumber = (value: unknown): value is number => typeof value === "number";
const isString = (value: unknown): value is string => typeof value === "string";
export const isKeyed = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const sane = (value: number): Outcome => (Number.isFinite(value) ? value : ERROR);

function look(path: readonly string[], world: World): Outcome {
  let at: unknown = world;
  for (const key of path) {
    const found: unknown = isKeyed(at) && Object.hasOwn(at, key) ? at[key as keyof typeof at] : undefined;
    if (found === undefined) return ERROR;
    at = found;
  }
  return at as Outcome;
}

/** As text, with the keys of objects in order: equal text is equal data. */
export const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isKeyed(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

const ORDERS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
const SUMS: Readonly<Record<string, (a: number, b: number) => Outcome>> = {
  "+": (a, b) => sane(a + b),
  "-": (a, b) => sane(a - b),
  "*": (a, b) => sane(a * b),
  "/": (a, b) => (b === 0 ? ERROR : sane(a / b)),
  "%": (a, b) => (b === 0 ? ERROR : sane((a % b) + 0)),
};

function calculate(op: string, a: Json, b: Json): Outcome {
  const time = calculateTime(op, a, b);
  if (time !== undefined) return time;
  if (op === "==") return sorted(a) === sorted(b);
  if (op === "!=") return sorted(a) !== sorted(b);
  const areNumbers = isNumber(a) && isNumber(b);
  const areTexts = isString(a) && isString(b);
  const order = ORDERS[op];
  if (order !== undefined) return areNumbers || areTexts ? order(a as number, b as number) : ERROR;
  if (op === "+" && areTexts) return `${a}${b}`;
  if (op === "+" && Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  return areNumbers ? (SUMS[op]?.(a, b) ?? ERROR) : ERROR;
}

function both(op: string, a: Outcome, b: Outcome): Outcome {
  const settles = op === "||";
  if (a === settles || b === settles) return settles;
  return a === !settles && b === !settles ? !settles : ERROR;
}

function each(tree: Extract<Tree, { is: "each" }>, world: World): Outcome {
  const over = answer(tree.over, world);
  const items = isKeyed(over) ? Object.keys(over) : over;
  if (!Array.isArray(items)) return ERROR;
  const answers = items.map((item) => answer(tree.test, { ...world, [tree.name]: item }));
  const areClear = answers.every((one) => typeof one === "boolean");
  if (tree.how === "exists_one") return areClear ? answers.filter((one) => one === true).length === 1 : ERROR;
  const settles = tree.how === "exists";
  if (answers.includes(settles)) return settles;
  return areClear ? !settles : ERROR;
}

/** As it is kept; nothing where it is not. */
function kept(tree: Extract<Tree, { is: "made" }>, one: Json, world: World): Outcome | undefined {
  const inner = { ...world, [tree.name]: one };
  const keeps = tree.test === null ? true : answer(tree.test, inner);
  if (typeof keeps !== "boolean") return ERROR;
  if (!keeps) return undefined;
  return tree.make === null ? one : answer(tree.make, inner);
}

function made(tree: Extract<Tree, { is: "made" }>, world: World): Outcome {
  const given = answer(tree.over, world);
  const items = isKeyed(given) ? Object.keys(given) : given;
  if (!Array.isArray(items)) return ERROR;
  const list = (items as readonly Json[])
    .map((one) => kept(tree, one, world))
    .filter((one) => one !== undefined);
  return list.includes(ERROR) ? ERROR : (list as Json);
}

function over(tree: Extract<Tree, { is: "over" }>, world: World): Outcome {
  const list = answer(tree.of, world);
  if (tree.how === "size") return sizeOf(list);
  if (!Array.isArray(list) || !list.every(isNumber)) return ERROR;
  const numbers = list as readonly number[];
  if (tree.how === "sum") return sane(numbers.reduce((a, b) => a + b, 0));
  const [least, most] = [[...numbers].sort((a, b) => a - b)[0], [...numbers].sort((a, b) => b - a)[0]];
  return (tree.how === "min" ? least : most) ?? ERROR;
}

function match(tree: Extract<Tree, { is: "match" }>, world: World): Outcome {
  const text = answer(tree.of, world);
  const flags = tree.pattern.startsWith("(?i)") ? "iu" : "u";
  return isString(text) ? new RegExp(tree.pattern.replace("(?i)", ""), flags).test(text) : ERROR;
}

function sizeOf(of: Outcome): Outcome {
  if (isString(of)) return [...of].length;
  if (Array.isArray(of)) return of.length;
  return isKeyed(of) ? Object.keys(of).length : ERROR;
}

function call(tree: Extract<Tree, { is: "call" }>, world: World): Outcome {
  const of = answer(tree.of, world);
  if (tree.with === null) return sizeOf(of);
  const other = answer(tree.with, world);
  if (!isString(of) || !isString(other)) return ERROR;
  return tree.name === "contains" ? of.indexOf(other) >= 0 : of.slice(0, other.length) === other;
}

function item(tree: Extract<Tree, { is: "item" }>, world: World): Outcome {
  const of = answer(tree.of, world);
  return Array.isArray(of) && tree.at < of.length ? (of[tree.at] as Json) : ERROR;
}

function has(path: readonly string[], world: World): Outcome {
  const of = look(path.slice(0, -1), world);
  if (of === ERROR) return ERROR;
  return isKeyed(of) && Object.keys(of).includes(path.at(-1) ?? "");
}

function choose(tree: Extract<Tree, { is: "choose" }>, world: World): Outcome {
  const test = answer(tree.test, world);
  if (typeof test !== "boolean") return ERROR;
  return answer(test ? tree.yes : tree.no, world);
}

function isIn(tree: Extract<Tree, { is: "in" }>, world: World): Outcome {
  const values = [tree.what, ...tree.list].map((one) => answer(one, world));
  if (values.includes(ERROR)) return ERROR;
  const [what, ...list] = values.map(sorted);
  return list.includes(what ?? "");
}

function two(tree: Extract<Tree, { is: "two" }>, world: World): Outcome {
  const left = answer(tree.left, world);
  const right = answer(tree.right, world);
  if (tree.op === "&&" || tree.op === "||") return both(tree.op, left, right);
  return left === ERROR || right === ERROR ? ERROR : calculate(tree.op, left, right);
}

function not(of: Outcome): Outcome {
  return typeof of === "boolean" ? !of : ERROR;
}

export function answer(tree: Tree, world: World): Outcome {
  switch (tree.is) {
    case "literal":
      return tree.value;
    case "read":
      return look(tree.path, world);
    case "item":
      return item(tree, world);
    case "has":
      return has(tree.path, world);
    case "not":
      return not(answer(tree.of, world));
    case "choose":
      return choose(tree, world);
    case "in":
      return isIn(tree, world);
    case "call":
      return call(tree, world);
    case "each":
      return each(tree, world);
    case "two":
      return two(tree, world);
    case "moment":
      return readMoment(tree.text);
    case "span":
      return readSpan(tree.text);
    case "part":
      return partOf(tree.part, tree.zone, answer(tree.of, world));
    case "match":
      return match(tree, world);
    case "made":
      return made(tree, world);
    case "over":
      return over(tree, world);
  }
}
