/** Random expressions, drawn from a seed: trees of their own, printed as text. */
import { drawMatch, drawTimeNumber, drawTimeTruth } from "./policy-draw-time.ts";

export type Draw = {
  next(): number;
  upTo(most: number): number;
  pick<Value>(from: readonly Value[]): Value;
  chance(share: number): boolean;
};

/** mulberry32: small, and the same everywhere. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    upTo: (most) => Math.floor(next() * (most + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
    chance: (share) => next() < share,
  };
}

export type Tree =
  | { readonly is: "literal"; readonly value: null | boolean | number | string }
  | { readonly is: "read"; readonly path: readonly string[] }
  | { readonly is: "item"; readonly of: Tree; readonly at: number }
  | { readonly is: "has"; readonly path: readonly string[] }
  | { readonly is: "two"; readonly op: string; readonly left: Tree; readonly right: Tree }
  | { readonly is: "not"; readonly of: Tree }
  | { readonly is: "choose"; readonly test: Tree; readonly yes: Tree; readonly no: Tree }
  | { readonly is: "in"; readonly what: Tree; readonly list: readonly Tree[] }
  | {
      readonly is: "call";
      readonly name: "size" | "contains" | "startsWith";
      readonly of: Tree;
      readonly with: Tree | null;
    }
  | { readonly is: "moment" | "span"; readonly text: string }
  | { readonly is: "part"; readonly part: string; readonly zone: string | null; readonly of: Tree }
  | { readonly is: "match"; readonly of: Tree; readonly pattern: string }
  | {
      readonly is: "made";
      readonly how: "filter" | "map";
      readonly over: Tree;
      readonly name: string;
      readonly test: Tree | null;
      readonly make: Tree | null;
    }
  | { readonly is: "over"; readonly how: "size" | "sum" | "max" | "min"; readonly of: Tree }
  | {
      readonly is: "each";
      readonly how: "all" | "exists" | "exists_one";
      readonly over: Tree;
      readonly name: string;
      readonly test: Tree;
    };

export function textOf(tree: Tree): string {
  switch (tree.is) {
    case "literal":
      return typeof tree.value === "number" && tree.value < 0
        ? `(-${-tree.value})`
        : JSON.stringify(tree.value);
    case "read":
      return tree.path.join(".");
    case "item":
      return `${textOf(tree.of)}[${tree.at}]`;
    case "has":
      return `has(${tree.path.join(".")})`;
    case "two":
      return `(${textOf(tree.left)} ${tree.op} ${textOf(tree.right)})`;
    case "not":
      return `!(${textOf(tree.of)})`;
    case "choose":
      return `(${textOf(tree.test)} ? ${textOf(tree.yes)} : ${textOf(tree.no)})`;
    case "in":
      return `(${textOf(tree.what)} in [${tree.list.map(textOf).join(", ")}])`;
    case "call":
      return tree.with === null
        ? `size(${textOf(tree.of)})`
        : `${textOf(tree.of)}.${tree.name}(${textOf(tree.with)})`;
    case "each":
      return `${textOf(tree.over)}.${tree.how}(${tree.name}, ${textOf(tree.test)})`;
    case "moment":
      return `timestamp(${JSON.stringify(tree.text)})`;
    case "span":
      return `duration(${JSON.stringify(tree.text)})`;
    case "part":
      return `(${textOf(tree.of)}).${tree.part}(${tree.zone === null ? "" : JSON.stringify(tree.zone)})`;
    case "match":
      return `${textOf(tree.of)}.matches(${JSON.stringify(tree.pattern)})`;
    case "made": {
      const inner = [tree.test, tree.make].flatMap((one) => (one === null ? [] : [textOf(one)]));
      return `${textOf(tree.over)}.${tree.how}(${[tree.name, ...inner].join(", ")})`;
    }
    case "over":
      return `${tree.how}(${textOf(tree.of)})`;
  }
}

export const WORDS = ["", "a", "ab", "pay", "late", "constructor"];
export const NUMBERS = [0, 1, 2, 5, 10, 99.5, 0.1, 1000, -3];
export const KEYS = ["a", "b", "s", "list", "o", "constructor"];

/** What can be read where the expression stands. */
export type Sight = {
  readonly numbers: readonly (readonly string[])[];
  readonly texts: readonly (readonly string[])[];
  readonly depth: number;
};

export const OVER_RULES = (totals: readonly string[]): Sight => ({
  numbers: [
    ["args", "a"],
    ["args", "b"],
    ["args", "o", "a"],
    ["workflow", "generation"],
    ["risk", "score"],
    ...totals.map((name) => ["totals", name]),
  ],
  texts: [
    ["args", "s"],
    ["args", "constructor"],
    ["agent"],
    ["tool", "name"],
    ["tool", "effect"],
    ["risk", "level"],
    ["workflow", "name"],
  ],
  depth: 3,
});
export const OVER_RISK = (totals: readonly string[]): Sight => {
  const { numbers, texts, depth } = OVER_RULES(totals);
  const free = (paths: readonly (readonly string[])[]) => paths.filter(([first]) => first !== "risk");
  return { numbers: free(numbers), texts: free(texts), depth };
};
export const OVER_CALLS: Sight = {
  numbers: [
    ["args", "a"],
    ["args", "b"],
    ["result", "n"],
  ],
  texts: [["args", "s"]],
  depth: 2,
};

export const literal = (value: boolean | number | string | null): Tree => ({ is: "literal", value });
const read = (path: readonly string[]): Tree => ({ is: "read", path });

/** Totals look at a call of before, and know neither the time nor anything else. */
const isTimed = ({ texts }: Sight): boolean => texts.some(([first]) => first === "agent");

export function drawNumber(draw: Draw, sight: Sight, depth = sight.depth): Tree {
  const kind = depth === 0 ? draw.upTo(1) : draw.upTo(7);
  const inner = () => drawNumber(draw, sight, depth - 1);
  if (kind === 0) return literal(draw.pick(NUMBERS));
  if (kind <= 2) return read(draw.pick(sight.numbers));
  if (kind === 3)
    return { is: "two", op: draw.pick(["+", "-", "*", "/", "%"]), left: inner(), right: inner() };
  if (kind === 4) return { is: "choose", test: drawTruth(draw, sight, depth - 1), yes: inner(), no: inner() };
  if (kind === 6) return isTimed(sight) ? drawTimeNumber(draw) : literal(draw.pick(NUMBERS));
  if (kind === 7) return isTimed(sight) ? drawListNumber(draw, sight) : read(draw.pick(sight.numbers));
  return draw.chance(0.5)
    ? { is: "call", name: "size", of: read(draw.chance(0.5) ? ["args", "list"] : ["args", "s"]), with: null }
    : { is: "item", of: read(["args", "list"]), at: draw.upTo(2) };
}

const LIST: Tree = { is: "read", path: ["args", "list"] };

/** A list that is made of another one. */
function drawList(draw: Draw, sight: Sight, depth: number): Tree {
  const name = draw.pick(["v", "w"]);
  const inner: Sight = { ...sight, numbers: [...sight.numbers, [name], [name]], depth: 1 };
  const over = depth > 0 && draw.chance(0.3) ? drawList(draw, sight, depth - 1) : LIST;
  const test = draw.chance(0.5) ? drawTruth(draw, inner, 0) : null;
  if (test !== null && draw.chance(0.5)) return { is: "made", how: "filter", over, name, test, make: null };
  return { is: "made", how: "map", over, name, test, make: drawNumber(draw, inner, 0) };
}

const isTaken = ({ numbers }: Sight): boolean => numbers.some(([first]) => first === "v" || first === "w");

/** How many there are, what they come to, or the largest of them. */
function drawListNumber(draw: Draw, sight: Sight): Tree {
  if (isTaken(sight)) return literal(1);
  return { is: "over", how: draw.pick(["size", "sum", "max", "min"] as const), of: drawList(draw, sight, 1) };
}

export function drawText(draw: Draw, sight: Sight): Tree {
  return draw.chance(0.4) ? literal(draw.pick(WORDS)) : read(draw.pick(sight.texts));
}

/** Of these there is a closed list, and a comparison with any other text is a fault of the policy. */
const CLOSED = new Map<string | undefined, readonly string[]>([
  ["effect", ["read", "once"]],
  ["level", ["low", "high"]],
  ["status", ["applied", "in_doubt", "refused"]],
]);

function fitting(draw: Draw, one: Tree, other: Tree): Tree {
  const among = other.is === "read" ? CLOSED.get(other.path.at(-1)) : undefined;
  return one.is === "literal" && among !== undefined ? literal(draw.pick(among)) : one;
}

function drawEach(draw: Draw, sight: Sight, depth: number): Tree {
  const name = draw.pick(["x", "y"]);
  const isTaken = sight.numbers.some(([first]) => first === name);
  if (isTaken || sight.texts.some(([first]) => first === "result")) return literal(true);
  const overHistory = sight.texts.some(([first]) => first === "agent") && draw.chance(0.4);
  const inner: Sight = overHistory
    ? {
        numbers: [...sight.numbers, [name, "args", "a"], [name, "generation"]],
        texts: [...sight.texts, [name, "tool"], [name, "status"]],
        depth: 1,
      }
    : { ...sight, numbers: [...sight.numbers, [name], [name]], depth: 1 };
  const over = read(overHistory ? ["history"] : ["args", "list"]);
  return {
    is: "each",
    how: draw.pick(["all", "exists", "exists_one"]),
    over,
    name,
    test: drawTruth(draw, inner, Math.min(depth, 1)),
  };
}

export function drawTruth(draw: Draw, sight: Sight, depth = sight.depth): Tree {
  const kind = depth <= 0 ? draw.upTo(4) : draw.upTo(12);
  const inner = () => drawTruth(draw, sight, depth - 1);
  const number = () => drawNumber(draw, sight, Math.max(0, depth - 1));
  if (kind === 0) return literal(draw.chance(0.5));
  if (kind === 1) return { is: "has", path: ["args", draw.pick(KEYS)] };
  if (kind <= 3)
    return { is: "two", op: draw.pick(["<", "<=", ">", ">=", "==", "!="]), left: number(), right: number() };
  if (kind === 4) {
    const op = draw.pick(["==", "!=", "<", ">="]);
    const [left, right] = [drawText(draw, sight), drawText(draw, sight)];
    return { is: "two", op, left: fitting(draw, left, right), right: fitting(draw, right, left) };
  }
  if (kind === 5) return { is: "not", of: inner() };
  if (kind === 6) return { is: "choose", test: inner(), yes: inner(), no: inner() };
  if (kind === 7) return { is: "in", what: number(), list: Array.from({ length: draw.upTo(3) }, number) };
  if (kind === 8)
    return {
      is: "call",
      name: draw.pick(["contains", "startsWith"]),
      of: drawText(draw, sight),
      with: drawText(draw, sight),
    };
  if (kind === 9) return drawEach(draw, sight, depth - 1);
  if (kind === 11) return isTimed(sight) ? drawTimeTruth(draw) : inner();
  if (kind === 12) return drawMatch(draw, read(draw.pick(sight.texts)));
  return { is: "two", op: draw.pick(["&&", "||"]), left: inner(), right: inner() };
}
