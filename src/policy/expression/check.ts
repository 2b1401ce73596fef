/**
 * The type of an expression before it runs, and its flaws. A field that a tool's schema does not have is a flaw; an
 * optional field without a `has` guard is a warning. Also: texts that a value can never equal because its values are a
 * closed list, and the fields known to exist once a condition is true or false.
 */

import { didYouMean } from "../../kernel/spelling.ts";
import { functionsNamed, namesOfFunctions } from "./functions.ts";
import { patternOf } from "./pattern.ts";
import { type Flaw, type Macro, type Node, type NodeOf, partsOf, pathText } from "./syntax.ts";
import {
  ANY,
  ANY_OBJECT,
  BOOL,
  type ExpressionFunction,
  joined,
  listOf,
  mayBe,
  mayMeet,
  NULL,
  NUMBER,
  STRING,
  type Type,
} from "./types.ts";
import { type ExpressionKind, kindText } from "./values.ts";

const MOST_NAMED = 10;

function listed(among: readonly string[]): string {
  const left = among.length - MOST_NAMED;
  return `${among.slice(0, MOST_NAMED).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

/** Why a value of this type never equals this text. */
export function neverIs(type: Type, text: string, what: string): string | undefined {
  if (type.kind !== "string" || type.among === null || type.among.includes(text)) return undefined;
  return `${what} is never ${JSON.stringify(text)}${didYouMean(text, type.among)}; it is one of ${listed(type.among)}`;
}

function flawOf(literal: Node, { node, type }: Side): readonly Flaw[] {
  if (literal.kind !== "value" || typeof literal.value !== "string") return [];
  const message = neverIs(type, literal.value, pathText(node) ?? "this");
  return message === undefined ? [] : [{ message, at: literal.at }];
}

type Side = { readonly node: Node; readonly type: Type };

function comparedFlaws({ op }: NodeOf<"compare">, left: Side, right: Side): readonly Flaw[] {
  return op === "==" || op === "!=" ? [...flawOf(left.node, right), ...flawOf(right.node, left)] : [];
}

/** `risk.level in ["low", "hgih"]`, or `"urgnt" in args.tags`. */
function memberFlaws(left: Side, right: Side): readonly Flaw[] {
  if (right.type.kind !== "list") return [];
  if (right.node.kind === "list") return right.node.items.flatMap((item) => flawOf(item, left));
  const item = pathText(right.node);
  const what: Side = { node: right.node, type: right.type.of };
  return flawOf(left.node, what).map(({ message, at }) => ({
    message: item === undefined ? message : `an item of ${message}`,
    at,
  }));
}

function guardsWhen(node: Node, holds: boolean): readonly string[] {
  switch (node.kind) {
    case "has":
      return holds ? pathsOf(pathText(node)) : [];
    case "in":
      return holds ? membership(node.left, node.right) : [];
    case "not":
      return guardsWhen(node.of, !holds);
    case "and":
      return holds ? [...guardsWhen(node.left, true), ...guardsWhen(node.right, true)] : [];
    case "or":
      return holds ? [] : [...guardsWhen(node.left, false), ...guardsWhen(node.right, false)];
    default:
      return [];
  }
}

const pathsOf = (path: string | undefined): readonly string[] => (path === undefined ? [] : [path]);

/** `"reason" in args` means the same as `has(args.reason)`. */
function membership(key: Node, of: Node): readonly string[] {
  const owner = pathText(of);
  if (owner === undefined || key.kind !== "value" || typeof key.value !== "string") return [];
  return [`${owner}.${key.value}`];
}

export type Findings = {
  readonly flaws: Flaw[];
  readonly warnings: Flaw[];
  /** Fields that do not exist for this tool but are guarded by `has`: fine if another tool has them. */
  readonly absent: Flaw[];
  /** Texts that a value never equals for this tool: fine if it can for another tool. */
  readonly never: Flaw[];
};

type TypeScope = {
  readonly names: ReadonlyMap<string, Type>;
  /** Paths that are known to exist. */
  readonly present: ReadonlySet<string>;
  readonly findings: Findings;
};

export const noFindings = (): Findings => ({ flaws: [], warnings: [], absent: [], never: [] });

export const typeText = (type: Type): string => (type.kind === "any" ? "anything" : kindText(type.kind));

function flaw(scope: TypeScope, node: Node, message: string): Type {
  scope.findings.flaws.push({ message, at: node.at });
  return ANY;
}

function expectKind(scope: TypeScope, node: Node, kind: ExpressionKind): Type {
  const type = typeOf(node, scope);
  if (!mayBe(type, kind))
    flaw(scope, node, `${kindText(kind)} is needed here, and this is ${typeText(type)}`);
  return type;
}

function fieldType(node: NodeOf<"field" | "has">, scope: TypeScope): Type {
  const of = typeOf(node.of, scope);
  if (of.kind === "any") return ANY;
  const owner = pathText(node.of) ?? "this";
  if (of.kind !== "object")
    return flaw(scope, node, `${owner} is ${typeText(of)} and has no field ${node.name}`);
  const field = of.fields.get(node.name);
  const path = pathText(node) ?? "";
  if (field === undefined) return unlisted(node, of, { owner, path }, scope);
  if (!field.required && node.kind === "field" && !scope.present.has(path))
    scope.findings.warnings.push({
      message: `${path} may be missing, and the rule then blocks; ask has(${path}) first`,
      at: node.at,
    });
  return field.type;
}

/** The closest name, or else the list of fields. */
function meantField(name: string, known: readonly string[]): string {
  const meant = didYouMean(name, known);
  if (meant !== "" || known.length === 0 || known.length > MOST_NAMED) return meant;
  return ` (it has: ${known.join(", ")})`;
}

function unlisted(
  node: NodeOf<"field" | "has">,
  of: Extract<Type, { kind: "object" }>,
  { owner, path }: { readonly owner: string; readonly path: string },
  scope: TypeScope,
): Type {
  if (of.rest !== null) return of.rest;
  const message = `${owner} has no field ${node.name}${meantField(node.name, [...of.fields.keys()])}`;
  if (node.kind === "field" && !scope.present.has(path)) return flaw(scope, node, message);
  if (node.kind === "has") scope.findings.absent.push({ message, at: node.at });
  return ANY;
}

function indexType(node: NodeOf<"index">, scope: TypeScope): Type {
  const of = typeOf(node.of, scope);
  if (node.key.kind === "value" && typeof node.key.value === "string" && of.kind === "object")
    return fieldType({ kind: "field", of: node.of, name: node.key.value, at: node.key.at }, scope);
  const key = typeOf(node.key, scope);
  if (of.kind === "list") {
    if (!mayBe(key, "number")) flaw(scope, node.key, "a list's place is a number");
    return of.of;
  }
  if (of.kind === "any") return ANY;
  if (of.kind !== "object") return flaw(scope, node, `${typeText(of)} has no parts`);
  return of.rest ?? ANY;
}

function nameType(node: NodeOf<"name">, scope: TypeScope): Type {
  const type = scope.names.get(node.name);
  if (type !== undefined) return type;
  return flaw(scope, node, `there is no ${node.name} here${didYouMean(node.name, scope.names.keys())}`);
}

/** The result type of the functions that take such operands; undefined if none does. */
function resultType(known: readonly ExpressionFunction[], operands: readonly Type[]): Type | undefined {
  const fitting = known.filter(
    ({ takes }) =>
      takes.length === operands.length && takes.every((kind, index) => mayBe(operands[index] ?? ANY, kind)),
  );
  const [first, ...others] = fitting.map(({ gives }) => gives);
  return first === undefined ? undefined : others.reduce(joined, first);
}

function callType(node: NodeOf<"call">, scope: TypeScope): Type {
  const known = functionsNamed(node.name, node.of !== null);
  if (known.length === 0) return unknownCall(node, scope);
  const operands = partsOf(node);
  const types = operands.map((operand) => typeOf(operand, scope));
  const type = resultType(known, types);
  if (type === undefined)
    return flaw(scope, node, `${node.name} does not take ${types.map(typeText).join(" and ") || "nothing"}`);
  if (node.name === "matches") checkPattern(operands[1], scope);
  return type;
}

const MACROS: readonly Macro[] = ["all", "exists", "exists_one", "filter", "map"];

function unknownCall(node: NodeOf<"call">, scope: TypeScope): Type {
  const isMethod = node.of !== null;
  const known = [...namesOfFunctions(isMethod), ...(isMethod ? MACROS : ["has"])];
  return flaw(
    scope,
    node,
    `there is no ${isMethod ? "method" : "function"} ${node.name}${didYouMean(node.name, known)}`,
  );
}

function checkPattern(pattern: Node | undefined, scope: TypeScope): void {
  if (pattern === undefined) return;
  const isWritten = pattern.kind === "value" && typeof pattern.value === "string";
  const found = isWritten ? patternOf(String(pattern.value)) : "the pattern has to be written here, as text";
  if (typeof found === "string") flaw(scope, pattern, found);
}

function compareType(node: NodeOf<"compare">, scope: TypeScope): Type {
  const left = typeOf(node.left, scope);
  const right = typeOf(node.right, scope);
  const isEquality = node.op === "==" || node.op === "!=";
  const ordered = (type: Type) => ["any", "number", "string", "moment", "span"].includes(type.kind);
  const fits = mayMeet(left, right) && (isEquality || (ordered(left) && ordered(right)));
  if (!fits)
    flaw(scope, node, `${typeText(left)} ${node.op} ${typeText(right)} compares what cannot be compared`);
  const sides = [
    { node: node.left, type: left },
    { node: node.right, type: right },
  ] as const;
  scope.findings.never.push(...comparedFlaws(node, ...sides));
  return BOOL;
}

function mathType(node: NodeOf<"math">, scope: TypeScope): Type {
  const types = [typeOf(node.left, scope), typeOf(node.right, scope)];
  const type = resultType(functionsNamed(node.op, false), types);
  return type ?? flaw(scope, node, `${types.map(typeText).join(` ${node.op} `)} is nothing`);
}

function inType(node: NodeOf<"in">, scope: TypeScope): Type {
  const left = typeOf(node.left, scope);
  const right = typeOf(node.right, scope);
  if (right.kind === "list" && !mayMeet(left, right.of))
    flaw(scope, node, `${typeText(left)} is never in a list of ${typeText(right.of)}`);
  if (!mayBe(right, "list") && !mayBe(right, "object"))
    flaw(scope, node.right, `in needs a list or an object, and this is ${typeText(right)}`);
  scope.findings.never.push(
    ...memberFlaws({ node: node.left, type: left }, { node: node.right, type: right }),
  );
  return BOOL;
}

function eachType(node: NodeOf<"each">, scope: TypeScope): Type {
  const over = typeOf(node.over, scope);
  if (!mayBe(over, "list") && !mayBe(over, "object"))
    flaw(scope, node.over, `${node.macro} needs a list, and this is ${typeText(over)}`);
  if (scope.names.has(node.variable))
    flaw(scope, node, `${node.variable} already means something; take another name`);
  const item = over.kind === "object" ? STRING : itemOf(over);
  const inner = { ...scope, names: new Map([...scope.names, [node.variable, item]]) };
  if (node.test !== null) expectKind(inner, node.test, "bool");
  if (node.macro === "filter") return listOf(item);
  if (node.make === null) return BOOL;
  const guarded = node.test === null ? inner : withGuards(inner, node.test, true);
  return listOf(typeOf(node.make, guarded));
}

const itemOf = (type: Type): Type => (type.kind === "list" ? type.of : ANY);

function withGuards(scope: TypeScope, test: Node, holds: boolean): TypeScope {
  return { ...scope, present: new Set([...scope.present, ...guardsWhen(test, holds)]) };
}

function branchType(node: NodeOf<"if">, scope: TypeScope): Type {
  expectKind(scope, node.test, "bool");
  const yes = typeOf(node.yes, withGuards(scope, node.test, true));
  return joined(yes, typeOf(node.no, withGuards(scope, node.test, false)));
}

function bothType(node: NodeOf<"and" | "or">, scope: TypeScope): Type {
  expectKind(scope, node.left, "bool");
  expectKind(withGuards(scope, node.left, node.kind === "and"), node.right, "bool");
  return BOOL;
}

function listType(node: NodeOf<"list">, scope: TypeScope): Type {
  const types = node.items.map((item) => typeOf(item, scope));
  return listOf(types.length === 0 ? ANY : types.reduce((a, b) => joined(a, b)));
}

function objectType(node: NodeOf<"object">, scope: TypeScope): Type {
  for (const [key, value] of node.entries) {
    expectKind(scope, key, "string");
    typeOf(value, scope);
  }
  return ANY_OBJECT;
}

function literalType(value: NodeOf<"value">["value"]): Type {
  if (value === null) return NULL;
  if (typeof value === "boolean") return BOOL;
  return typeof value === "number" ? NUMBER : STRING;
}

export function typeOf(node: Node, scope: TypeScope): Type {
  switch (node.kind) {
    case "value":
      return literalType(node.value);
    case "name":
      return nameType(node, scope);
    case "field":
      return fieldType(node, scope);
    case "has":
      fieldType(node, scope);
      return BOOL;
    case "index":
      return indexType(node, scope);
    case "call":
      return callType(node, scope);
    case "list":
      return listType(node, scope);
    case "object":
      return objectType(node, scope);
    case "if":
      return branchType(node, scope);
    case "and":
    case "or":
      return bothType(node, scope);
    case "not":
      expectKind(scope, node.of, "bool");
      return BOOL;
    case "minus":
      return expectKind(scope, node.of, "number");
    case "compare":
      return compareType(node, scope);
    case "in":
      return inType(node, scope);
    case "math":
      return mathType(node, scope);
    case "each":
      return eachType(node, scope);
  }
}
