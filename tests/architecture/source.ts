// What the rules want to know of a source file: what it imports and which functions it holds.
import path from "node:path";
import { closing, lineAt, mask, skipSpace } from "./lexer.ts";

export type SourceText = { readonly path: string; readonly text: string };

export type Import = {
  readonly specifier: string;
  /** A path from the repository's root where the specifier is relative, the package's name otherwise. */
  readonly target: string;
  readonly typeOnly: boolean;
  readonly reExport: boolean;
  readonly clause: string;
  readonly line: number;
};

export type FunctionShape = { readonly line: number; readonly lines: number; readonly parameters: number };

export type Source = SourceText & {
  /** The text without the inside of comments and literals, at the same offsets. */
  readonly code: string;
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionShape[];
};

export function read(file: SourceText): Source {
  const code = mask(file.text);
  return { ...file, code, imports: findImports(file, code), functions: findFunctions(code) };
}

const FROM = /\b(import|export)\s+(type\s+(?!from\b|,))?([\w\s{},*$]+?)\s*\bfrom\s*(?=["'])/g;
const SIDE_EFFECT = /\bimport\s*(?=["'])/g;
const DYNAMIC = /\bimport\s*\(\s*(?=["'`])/g;

function findImports(file: SourceText, code: string): Import[] {
  const found = [...code.matchAll(FROM)].map((match) => ({
    at: match.index,
    quote: match.index + match[0].length,
    reExport: match[1] === "export",
    typeOnly: match[2] !== undefined,
    clause: match[3] ?? "",
  }));
  const bare = [...code.matchAll(SIDE_EFFECT), ...code.matchAll(DYNAMIC)].map((match) => ({
    at: match.index,
    quote: match.index + match[0].length,
    reExport: false,
    typeOnly: false,
    clause: "",
  }));
  return [...found, ...bare].map(({ at, quote, ...rest }) => {
    const specifier = file.text.slice(quote + 1, file.text.indexOf(file.text[quote] ?? "", quote + 1));
    return { ...rest, specifier, target: resolve(file.path, specifier), line: lineAt(file.text, at) };
  });
}

function resolve(from: string, specifier: string): string {
  return specifier.startsWith(".") ? path.posix.join(path.posix.dirname(from), specifier) : specifier;
}

const CONTROL = new Set(["if", "for", "while", "switch", "catch", "with", "return", "await", "of", "in"]);

function findFunctions(code: string): FunctionShape[] {
  const found: FunctionShape[] = [];
  for (const { index } of code.matchAll(/\(/g)) {
    const close = closing(code, index);
    const body = bodyAfter(code, close + 1, nameBefore(code, index));
    if (body === undefined || isFunctionType(code, index, close)) continue;
    const line = lineAt(code, index);
    found.push({
      line,
      lines: lineAt(code, body.end) - line + 1,
      parameters: countParameters(code.slice(index + 1, close)),
    });
  }
  return found;
}

// `): (waiting: Answer) => void {` is a type that is returned, not a function.
function isFunctionType(code: string, open: number, close: number): boolean {
  const arrow = skipSpace(code, close + 1);
  const annotated = /[:|&<]$/.test(code.slice(0, open).trimEnd());
  return annotated && code.startsWith("=>", arrow) && code[skipSpace(code, arrow + 2)] !== "{";
}

type Body = { readonly end: number };

// Parentheses hold parameters when an arrow follows them, or a body follows and a name precedes.
function bodyAfter(code: string, at: number, name: string): Body | undefined {
  const start = skipSpace(code, at);
  const next = code[start] === ":" ? afterType(code, start + 1) : start;
  if (code.startsWith("=>", next)) return { end: expressionEnd(code, skipSpace(code, next + 2)) };
  const mayHaveBlock = name !== "" && !CONTROL.has(name);
  return code[next] === "{" && mayHaveBlock ? { end: closing(code, next) } : undefined;
}

// A brace that follows one of these is an object type and not yet the body.
const TYPE_GOES_ON = /(?:[:|&<,(?=]|\b(?:is|keyof|readonly|extends|infer))$/;

function afterType(code: string, from: number): number {
  let at = skipSpace(code, from);
  let read = ":";
  while (at < code.length && !/[;,)\]}]/.test(code[at] ?? "")) {
    if (code.startsWith("=>", at)) return at;
    if (code[at] === "{" && !TYPE_GOES_ON.test(read.trimEnd())) return at;
    const next = afterTypePart(code, at);
    // What stands in brackets is passed over as one; what counts is how it ends.
    read = (
      read +
      code[at] +
      (code
        .slice(at + 1, next)
        .trimEnd()
        .at(-1) ?? "")
    ).slice(-20);
    at = next;
  }
  return at;
}

function afterTypePart(code: string, at: number): number {
  const char = code[at] ?? "";
  if (char === "(") return afterFunctionType(code, at);
  if (char === "<") return afterTypeArguments(code, at);
  return /[{[]/.test(char) ? closing(code, at) + 1 : at + 1;
}

function afterFunctionType(code: string, at: number): number {
  const next = skipSpace(code, closing(code, at) + 1);
  return code.startsWith("=>", next) ? next + 2 : next;
}

function afterTypeArguments(code: string, at: number): number {
  let depth = 0;
  for (let index = at; index < code.length; index += 1) {
    if (code[index] === "<") depth += 1;
    if (code[index] === ">" && code[index - 1] !== "=") depth -= 1;
    if (depth === 0) return index + 1;
  }
  return code.length;
}

function expressionEnd(code: string, from: number): number {
  if (code[from] === "{") return closing(code, from);
  let at = from;
  while (at < code.length && !/[;,)\]}]/.test(code[at] ?? "")) {
    at = /[([{]/.test(code[at] ?? "") ? closing(code, at) + 1 : at + 1;
  }
  return at;
}

function nameBefore(code: string, at: number): string {
  const before = code.slice(Math.max(0, at - 400), at).trimEnd();
  const plain = before.endsWith(">") ? before.slice(0, typeParametersStart(before)).trimEnd() : before;
  return /[#\w$]+$/.exec(plain.slice(-LONGEST_NAME))?.[0] ?? "";
}

const LONGEST_NAME = 80;

function typeParametersStart(before: string): number {
  let depth = 0;
  for (let index = before.length - 1; index >= 0; index -= 1) {
    if (before[index] === ">" && before[index - 1] !== "=") depth += 1;
    if (before[index] === "<") depth -= 1;
    if (depth === 0) return index;
  }
  return 0;
}

function countParameters(list: string): number {
  let depth = 0;
  let commas = 0;
  const text = list.trim().replace(/,$/, "").replaceAll("=>", "  ");
  for (const char of text) {
    if (/[([{<]/.test(char)) depth += 1;
    else if (/[)\]}>]/.test(char)) depth -= 1;
    else if (char === "," && depth === 0) commas += 1;
  }
  return text === "" ? 0 : commas + 1;
}
