/** How wide text is on a terminal, and how it is cut and folded there. Works on text that is visible already. */
import { PIECES } from "../kernel/text.ts";

const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}])/u;

function pieceWidth(piece: string): number {
  if (piece.startsWith("\\")) return piece.length;
  return WIDE.test(piece) ? 2 : 1;
}

/** Where it is shown: to people, and how wide. */
type Screen = { readonly interactive: boolean; readonly columns: number };
const HANG = "  ";

const piecesOf = (text: string): readonly string[] => text.match(PIECES) ?? [];

export function widthOf(text: string): number {
  return piecesOf(text).reduce((sum, piece) => sum + pieceWidth(piece), 0);
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** At most `width` columns; what is missing is counted. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const pieces = piecesOf(text);
  let used = 0;
  let kept = 0;
  const room = Math.max(1, width - `… +${pieces.length}`.length);
  for (const piece of pieces) {
    used += pieceWidth(piece);
    if (used > room) break;
    kept++;
  }
  return `${pieces.slice(0, kept).join("")}… +${pieces.length - kept}`;
}

/** Lines of at most `width` columns, broken at a space where one is near. */
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

/** For people: folded, with what follows the first line set in. Elsewhere one line stays one line. */
export function hanging(text: string, { interactive, columns }: Screen): readonly string[] {
  if (!interactive) return [text];
  const [first = "", ...rest] = fold(text, columns - HANG.length);
  return [first, ...rest.map((line) => HANG + line)].map((line) => line.trimEnd());
}

/** At most `most` characters (UTF-16 units, no pair torn apart), and how many are missing. */
export function cut(text: string, most: number): { readonly text: string; readonly left: number } {
  if (text.length <= most) return { text, left: 0 };
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), left: text.length - end };
}

/** What stands where something was cut. */
export function missing(left: number, what: "character" | "line"): string {
  return `… ${left} more ${what}${left === 1 ? "" : "s"} (use --full)`;
}
