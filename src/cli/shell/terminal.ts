/**
 * The terminal: answers to standard output, errors and progress to standard error; the width of text, and how it is cut
 * and folded (visible text only); timestamps and spans of time in words.
 */
import { styleText } from "node:util";
import { ESCAPES, PIECES, visibleJson } from "../../kernel/text.ts";

export type Style = Parameters<typeof styleText>[0];
type Stream = NodeJS.WriteStream;

export type Terminal = {
  /** Standard output is a terminal with a person. */
  readonly interactive: boolean;
  readonly columns: number;
  line(text?: string): void;
  json(value: unknown): void;
  /** Exact bytes; resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** On standard error. */
  note(text: string): void;
  /** On standard error, on one line that is replaced; only for a person. `null` removes it. */
  progress(text: string | null): void;
  paint(style: Style, text: string): string;
  /** Text that `visible` processed, with its escapes highlighted. */
  strange(text: string): string;
  /** Aborts when standard output has no reader any more. */
  readonly closed: AbortSignal;
  /** Error of standard output, other than a missing reader. */
  fault(): Error | undefined;
};

const DEFAULT_COLUMNS = 80;
const FEWEST_COLUMNS = 40;

function isColourful(stream: Stream, environment: NodeJS.ProcessEnv): boolean {
  const refused = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  return stream.isTTY === true && !refused;
}

/** JSON in which every character is visible, and which parses to the same value. */
export function jsonText(value: unknown): string {
  return visibleJson(JSON.stringify(value));
}

function watchOutput(out: Stream): Pick<Terminal, "closed" | "fault"> {
  const closed = new AbortController();
  let fault: Error | undefined;
  out.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") fault ??= error;
    closed.abort();
  });
  return { closed: closed.signal, fault: () => fault };
}

export function createTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  const colourful = isColourful(stdout, env);
  const paint = (style: Style, text: string) =>
    colourful && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  const watched = watchOutput(stdout);
  stderr.on("error", () => {});
  let isShown = false;
  const put = (text: string) => watched.closed.aborted || stdout.write(text);
  return {
    ...watched,
    interactive: stdout.isTTY === true,
    columns: Math.max(FEWEST_COLUMNS, stdout.columns ?? DEFAULT_COLUMNS),
    line: (text = "") => void put(`${text}\n`),
    json: (value) => void put(`${jsonText(value)}\n`),
    write: async (text) => {
      if (put(text) || watched.closed.aborted) return;
      await new Promise<void>((resolve) => {
        stdout.once("drain", resolve);
        watched.closed.addEventListener("abort", () => resolve(), { once: true });
      });
    },
    note: (text) => void stderr.write(`${text}\n`),
    progress: (text) => {
      if (stderr.isTTY && (text !== null || isShown)) stderr.write(`\r\u001b[2K${text ?? ""}`);
      isShown = text !== null;
    },
    paint,
    strange: (text) =>
      text.replace(ESCAPES, (found, backslash) =>
        backslash === undefined ? paint(["inverse"], found) : found,
      ),
  };
}

const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}])/u;

function pieceWidth(piece: string): number {
  if (piece.startsWith("\\")) return piece.length;
  return WIDE.test(piece) ? 2 : 1;
}

/** Whether a person reads it, and its width. */
type Screen = { readonly interactive: boolean; readonly columns: number };
const HANG = "  ";

const piecesOf = (text: string): readonly string[] => text.match(PIECES) ?? [];

export function widthOf(text: string): number {
  return piecesOf(text).reduce((sum, piece) => sum + pieceWidth(piece), 0);
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function countIn(pieces: readonly string[], width: number): number {
  let used = 0;
  for (const [at, piece] of pieces.entries()) {
    used += pieceWidth(piece);
    if (used > width) return at;
  }
  return pieces.length;
}

/** At most `width` columns; the rest is counted. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const pieces = piecesOf(text);
  const kept = countIn(pieces, Math.max(1, width - `… +${pieces.length}`.length));
  return `${pieces.slice(0, kept).join("")}… +${pieces.length - kept}`;
}

/** At most `width` columns; a cell in the middle of a line has no room for a count. */
export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const pieces = piecesOf(text);
  const start = pieces.slice(0, countIn(pieces, width - 1)).join("");
  return `${start.trimEnd()}…`;
}

/** Lines of at most `width` columns, broken at a space if one is near. */
export function fold(text: string, width: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  let used = 0;
  let space = -1;
  for (const piece of piecesOf(text)) {
    if (used + pieceWidth(piece) > width && line.length > 0) {
      const at = space > line.length / 2 ? space + 1 : line.length;
      lines.push(line.slice(0, at).join(""));
      line = line.slice(at);
      used = line.reduce((sum, kept) => sum + pieceWidth(kept), 0);
      space = -1;
    }
    if (piece === " ") space = line.length;
    line.push(piece);
    used += pieceWidth(piece);
  }
  return [...lines, line.join("")];
}

/** For people: folded, with an indent after the first line. Otherwise one line stays one line. */
export function hanging(text: string, { interactive, columns }: Screen): readonly string[] {
  if (!interactive) return [text];
  const [first = "", ...rest] = fold(text, columns - HANG.length);
  return [first, ...rest.map((line) => HANG + line)].map((line) => line.trimEnd());
}

/** At most `most` characters (UTF-16 units, no pair split), and how many are missing. */
export function cut(text: string, most: number): { readonly text: string; readonly left: number } {
  if (text.length <= most) return { text, left: 0 };
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), left: text.length - end };
}

/** Marker where text was cut. */
export function missing(left: number, what: "character" | "line"): string {
  return `… ${left} more ${what}${left === 1 ? "" : "s"} (use --full)`;
}

/** Timestamps and spans in words. */
const SPAN_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** Only the largest unit: that is enough for an age. */
export function formatSpan(ms: number): string {
  const [name, size] = SPAN_UNITS.find(([, unit]) => ms >= unit) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
}

/** RFC 3339; a time outside the calendar is shown as its number. */
export function formatMoment(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
}

/** For a table, to the minute. */
export const formatMinute = (at: number): string =>
  formatMoment(at).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1 $2Z");

export function formatAgo(at: number, now: number): string {
  return `${formatMoment(at)} (${at <= now ? `${formatSpan(now - at)} ago` : `in ${formatSpan(at - now)}`})`;
}

/** Time left until a deadline, for a list. */
export function formatTimeLeft(deadline: number | null, now: number): string {
  if (deadline === null) return "-";
  return deadline <= now ? "passed" : `in ${formatSpan(deadline - now)}`;
}

/** `1 fault`, `2 faults` */
export const pluralize = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
