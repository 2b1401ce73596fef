// A light lexer: enough TypeScript to tell code from comments, strings, templates and regular expressions.
// The compiler has no API to ask, and the rules need no more than this.

const OPENERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const BEFORE_REGEX =
  /(?:^|[=([{,;:!&|?+*%~^<>-]|=>|\b(?:return|typeof|case|of|in|do|else|void|throw|yield|await))$/;
const QUOTES = new Set(["'", '"']);

/** The text at the same length, with the inside of comments, strings, templates and regexes made blank. */
export function mask(text: string): string {
  const pieces: string[] = [];
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const resumesTemplate = text[at] === "}" && templates.at(-1) === depth;
    if (resumesTemplate) templates.pop();
    const token = resumesTemplate ? template(text, at) : readToken(text, at, pieces);
    if (token.opensExpression) templates.push(depth);
    else if (token.text === "{") depth += 1;
    else if (token.text === "}" && !resumesTemplate) depth -= 1;
    pieces.push(token.text);
    at += token.text.length;
  }
  return pieces.join("");
}

type Token = { readonly text: string; readonly opensExpression?: boolean };

function readToken(text: string, at: number, before: readonly string[]): Token {
  const char = text[at] ?? "";
  if (text.startsWith("//", at)) return blankTo(text, at, lineEnd(text, at));
  if (text.startsWith("/*", at)) return blankTo(text, at, after(text, "*/", at + 2));
  // In the text of an element: an apostrophe, and the end of a tag.
  if (char === "'" && /\w/.test(text[at - 1] ?? "")) return { text: char };
  if (char === "/" && text[at - 1] === "<") return { text: char };
  if (QUOTES.has(char)) return quoted(text, at);
  if (char === "`") return template(text, at);
  if (char === "/" && BEFORE_REGEX.test(codeBefore(before))) return regex(text, at);
  return { text: char };
}

function quoted(text: string, at: number): Token {
  const quote = text[at];
  let end = at + 1;
  while (end < text.length && text[end] !== quote && text[end] !== "\n") end += text[end] === "\\" ? 2 : 1;
  return { text: keepEnds(text, at, end + 1) };
}

// From a backtick, or from the brace that closes an expression, to the next expression or the last backtick.
function template(text: string, at: number): Token {
  let end = at + 1;
  while (end < text.length && text[end] !== "`") {
    if (text.startsWith("${", end)) return { text: `${keepEnds(text, at, end + 1)}{`, opensExpression: true };
    end += text[end] === "\\" ? 2 : 1;
  }
  return { text: keepEnds(text, at, end + 1) };
}

function regex(text: string, at: number): Token {
  let end = at + 1;
  let inClass = false;
  while (end < text.length && text[end] !== "\n" && (inClass || text[end] !== "/")) {
    if (text[end] === "[") inClass = true;
    if (text[end] === "]") inClass = false;
    end += text[end] === "\\" ? 2 : 1;
  }
  return { text: keepEnds(text, at, end + 1) };
}

/** Where the bracket that opens at `at` is closed, in masked text. */
export function closing(code: string, at: number): number {
  const stack: string[] = [];
  for (let index = at; index < code.length; index += 1) {
    const char = code[index] ?? "";
    const closer = OPENERS[char];
    if (closer !== undefined) stack.push(closer);
    else if (char === stack.at(-1)) stack.pop();
    if (stack.length === 0) return index;
  }
  return code.length;
}

export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

export function skipSpace(code: string, at: number): number {
  let index = at;
  while (/\s/.test(code[index] ?? "")) index += 1;
  return index;
}

function codeBefore(pieces: readonly string[]): string {
  return pieces.slice(-200).join("").trimEnd().slice(-12);
}

function keepEnds(text: string, from: number, to: number): string {
  const end = Math.min(to, text.length);
  return `${text[from]}${blank(text.slice(from + 1, end - 1))}${end - 1 > from ? text[end - 1] : ""}`;
}

function blankTo(text: string, from: number, to: number): Token {
  return { text: blank(text.slice(from, to)) };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function after(text: string, mark: string, at: number): number {
  const end = text.indexOf(mark, at);
  return end < 0 ? text.length : end + mark.length;
}
