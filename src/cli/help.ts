/** What `--help` prints. */
import { COMMON_FLAGS, type Command, type Flags } from "./command.ts";
import { fold, pad } from "./measure.ts";
import { flagsOf } from "./parse-line.ts";
import type { Terminal } from "./terminal.ts";

export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [0, "done"],
  [1, "refused or failed: a conflict, a rule that said no, findings of verify"],
  [2, "wrong usage"],
  [3, "no store here, or nothing under that id"],
  [4, "the store or its key cannot be used: busy, read-only, damaged, newer"],
  [130, "interrupted"],
];

function table(terminal: Terminal, rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([head]) => head.length)) + 2;
  for (const [head, text] of rows) {
    const [first = "", ...rest] = fold(text, Math.max(30, terminal.columns - width - 2));
    terminal.line(`  ${terminal.paint("bold", pad(head, width))}${first}`);
    for (const line of rest) terminal.line(" ".repeat(width + 2) + line);
  }
}

const flagRows = (flags: Flags): readonly (readonly [string, string])[] =>
  Object.entries(flags).map(([name, { value, summary, required }]) => [
    `--${name}${value === undefined ? "" : ` ${value}`}`,
    `${summary}${required ? " (needed)" : ""}`,
  ]);

export function usageOf(command: Command): string {
  const needed = Object.entries(command.flags).filter(([, flag]) => flag.required);
  return [
    "holdpoint",
    command.name,
    ...command.words,
    ...needed.map(([name, flag]) => `--${name} ${flag.value}`),
  ].join(" ");
}

export function printHelp(terminal: Terminal, command: Command): void {
  terminal.line(`${terminal.paint("bold", usageOf(command))}`);
  terminal.line();
  for (const text of [command.summary, ...(command.details ?? [])])
    for (const line of fold(text, terminal.columns - 2)) terminal.line(`  ${line}`);
  terminal.line();
  table(terminal, flagRows(flagsOf(command)));
}

/** Commands with the same first word. */
export function printFamily(terminal: Terminal, name: string, commands: readonly Command[]): void {
  terminal.line(terminal.paint("bold", `holdpoint ${name} …`));
  terminal.line();
  table(
    terminal,
    commands.map((command) => [[command.name, ...command.words].join(" "), command.summary]),
  );
  terminal.line();
  terminal.line(`Each with its flags: holdpoint ${name} ${commands[0]?.name.slice(name.length + 1)} --help`);
}

/** A choice of words is for the command's own help. */
const shortened = (word: string): string => (word.includes("|") ? "…" : word);

export function printOverview(terminal: Terminal, commands: readonly Command[], version: string): void {
  terminal.line(
    `${terminal.paint("bold", `holdpoint ${version}`)}: decide what agents may do, and see what they did`,
  );
  terminal.line();
  table(
    terminal,
    commands.map(({ name, words, summary }) => [[name, ...words.map(shortened)].join(" "), summary]),
  );
  terminal.line();
  table(terminal, [...flagRows(COMMON_FLAGS), ["--version", "which version this is"]]);
  terminal.line();
  terminal.line("Exit codes");
  table(
    terminal,
    EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning]),
  );
}
