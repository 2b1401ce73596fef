/** The parts of a card: headings, labelled values, and blocks of strangers' text that cannot pass for anything else. */
import { canonicalJson } from "../core/canonical-json.ts";
import type { Json } from "../core/json.ts";
import { visible, visiblePreview } from "../core/visible.ts";
import { cut, fold, missing } from "./measure.ts";
import { readable } from "./readable.ts";
import type { Style, Terminal } from "./terminal.ts";

const INDENT = "  ";
/** Stands before every line of a block, also where a long line was folded. */
const BAR = "│ ";

export type Sections = {
  heading(text: string, style?: Style): void;
  /** `value` may be anybody's text. */
  field(label: string, value: string): void;
  /** Lines that are visible already. */
  block(lines: readonly string[]): void;
  /** Text of strangers, line by line. */
  quote(text: string): void;
  json(label: string, value: Json): void;
  /** A value under its label, one line a field. */
  tree(label: string, value: Json): void;
};

const MOST_QUOTED = 4_000;
const MOST_FIELD = 1_000;
const MOST_JSON = 2_000;

export function sectionsOn(terminal: Terminal, full: boolean, labels = 12): Sections {
  const limit = (text: string, most: number) => {
    const kept = cut(text, full ? Number.POSITIVE_INFINITY : most);
    return { text: kept.text, rest: kept.left === 0 ? "" : missing(kept.left, "character") };
  };
  const block = (lines: readonly string[]) => {
    for (const line of lines)
      for (const part of fold(line, terminal.columns - INDENT.length - BAR.length))
        terminal.line(`${INDENT}${terminal.paint("dim", BAR)}${terminal.strange(part)}`);
  };
  return {
    block,
    heading(text, style = "bold") {
      terminal.line();
      terminal.line(terminal.paint(style, text));
    },
    field(label, value) {
      const { text, rest } = limit(value, MOST_FIELD);
      const words = `${visible(text)}${rest}`;
      const [first = "", ...more] = fold(words, terminal.columns - labels - INDENT.length);
      const start = `${label} `.padEnd(labels);
      terminal.line(`${INDENT}${terminal.paint("dim", start)}${terminal.strange(first)}`);
      for (const line of more) terminal.line(`${INDENT}${" ".repeat(labels)}${terminal.strange(line)}`);
    },
    quote(given) {
      const { text, rest } = limit(given, MOST_QUOTED);
      block(text.split("\n").map(visible));
      if (rest !== "") terminal.line(`${INDENT}${rest}`);
    },
    json(label, value) {
      const { text, rest } = limit(canonicalJson(value), MOST_JSON);
      terminal.line(`${INDENT}${terminal.paint("dim", label)}`);
      block([visiblePreview(text)]);
      if (rest !== "") terminal.line(`${INDENT}${rest}`);
    },
    tree(label, value) {
      terminal.line(`${INDENT}${terminal.paint("dim", label)}`);
      block(readable(value, full));
    },
  };
}
