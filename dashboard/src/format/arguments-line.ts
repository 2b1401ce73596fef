/**
 * The beginning of what is decided on, as a list shows it: names and values out of JSON that may have been cut in the middle.
 * What cannot be read so is shown as it came.
 */
import { labelOf } from "./labels.ts";

export type Piece = { readonly name: string; readonly value: string };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"(?:[^"\\]|\\.)*$/gs;

function unquoted(token: string): string {
  if (!token.startsWith('"')) return token;
  const whole = token.length > 1 && token.endsWith('"') ? token : `${token.replace(/\\[^"]*$/, "")}…"`;
  try {
    return String(JSON.parse(whole));
  } catch {
    return token.slice(1);
  }
}

/** One value from where it begins: how it reads, and where it ends. */
function valueAt(tokens: readonly string[], from: number): { readonly value: string; readonly next: number } {
  let depth = 0;
  const parts: string[] = [];
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at] ?? "";
    if (depth === 0 && (token === "," || token === "}")) return { value: parts.join(""), next: at };
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    const isApart = token === "," || token === ":";
    parts.push(isApart ? `${token} ` : unquoted(token));
  }
  return { value: parts.join(""), next: tokens.length };
}

/** Undefined where it is no object, or was cut before its first value. */
export function piecesOf(args: string): readonly Piece[] | undefined {
  const tokens = args.match(TOKEN) ?? [];
  if (tokens[0] !== "{") return undefined;
  const pieces: Piece[] = [];
  let at = 1;
  while (at < tokens.length && tokens[at] !== "}") {
    const name = unquoted(tokens[at] ?? "");
    if (tokens[at + 1] !== ":") break;
    const { value, next } = valueAt(tokens, at + 2);
    pieces.push({ name: labelOf(name), value });
    at = next + 1;
  }
  // Only what ends at once has no fields.
  return pieces.length > 0 || tokens[1] === "}" ? pieces : undefined;
}
