/** Is it a policy's document at all? Faults in the words of whoever wrote it, each with the key that was probably meant. */
import type { z } from "zod";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { errorText } from "../../kernel/text.ts";

import { keysAt, type PolicyDocument, policySchema } from "./document.ts";
import type { PolicyFault } from "./fault.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

const MOST_FAULTS = 50;

const pathOf = (issue: Issue): Path =>
  issue.path.map((part) => (typeof part === "number" ? part : String(part)));

/** Of the ways in which it could have been right, the one that it came closest to. */
function closest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) =>
    Math.max(...issues.map(({ path, code }) => path.length + (code === "unrecognized_keys" ? 1 : 0)));
  const [best] = branches.filter((issues) => issues.length > 0 && depth(issues) > 0);
  return best ?? [];
}

type Keys = (path: Path) => readonly string[];

function faultsOf(issue: Issue, before: Path, keys: Keys): readonly PolicyFault[] {
  const path = [...before, ...pathOf(issue)];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `${key} is not a key here${didYouMean(key, keys(path))}`,
    }));
  if (issue.code === "invalid_union") {
    const inner = closest(issue.errors).flatMap((one) => faultsOf(one, path, keys));
    if (inner.length > 0) return inner;
  }
  return [{ path, message: worded(issue, path) }];
}

type Values = Extract<Issue, { code: "invalid_value" }>;

function valueWords({ values, input }: Values, what: string): string {
  const list = values.map(String);
  if (input === undefined) return `${what} is missing: one of ${list.join(", ")}`;
  return `${what} is not one of ${list.join(", ")}${typeof input === "string" ? didYouMean(input, list) : ""}`;
}

/** The words that one of the branches would have taken. */
const choicesIn = ({ errors }: Extract<Issue, { code: "invalid_union" }>): readonly string[] =>
  errors.flat().flatMap((one) => (one.code === "invalid_value" ? one.values.map(String) : []));

function worded(issue: Issue, path: Path): string {
  const what = path.at(-1) ?? "the policy";
  if (issue.code === "invalid_type" && issue.input === undefined) return `${what} is missing`;
  if (issue.code === "invalid_type") return `${what} is not ${article(issue.expected)}`;
  if (issue.code === "invalid_value") return valueWords(issue, String(what));
  if (issue.code === "too_big") return `${what} is over ${issue.maximum}`;
  if (issue.code === "too_small" && issue.origin !== "string" && issue.origin !== "array")
    return `${what} is under ${issue.minimum}`;
  if (issue.code === "invalid_union" && typeof issue.input === "string")
    return `${what} ${issue.message}${didYouMean(issue.input, choicesIn(issue))}`;
  return issue.message.startsWith("is ") || /^(has|names) /.test(issue.message)
    ? `${what} ${issue.message}`
    : `${what}: ${issue.message}`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  array: "a list",
  int: "a whole number",
  number: "a number",
};
const article = (type: string): string => WORDS[type] ?? "an object";

/** Functions stand in the stored document as their text, so that another function is another policy. */
export function storedDocument(document: PolicyDocument): unknown {
  return withoutFunctions(document);
}

function withoutFunctions(value: unknown): unknown {
  if (typeof value === "function") return { function: String(value) };
  if (Array.isArray(value)) return value.map(withoutFunctions);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutFunctions(part)]));
}

/** In the words of whoever wrote it. */
export function issueFaults(issues: readonly Issue[], keys: Keys = () => []): readonly PolicyFault[] {
  return issues.flatMap((one) => faultsOf(one, [], keys)).slice(0, MOST_FAULTS);
}

export type Shaped =
  | { readonly ok: true; readonly document: PolicyDocument }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] };

export function shapeOf(given: unknown): Shaped {
  try {
    // First of all: what is not plain data may say something else each time it is looked at.
    canonicalJson(withoutFunctions(given));
  } catch (error) {
    return { ok: false, faults: [{ path: [], message: errorText(error) }] };
  }
  const parsed = policySchema.safeParse(given, { reportInput: true });
  if (parsed.success) return { ok: true, document: parsed.data };
  return { ok: false, faults: issueFaults(parsed.error.issues, keysAt) };
}
