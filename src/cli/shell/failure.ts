/** Failures, in words and as exit codes. */
import { resolve } from "node:path";
import { type ErrorCode, isHoldpointError } from "../../kernel/errors.ts";
import { visible } from "../../kernel/text.ts";
import { EXIT } from "./command.ts";
import { hanging, jsonText, type Terminal } from "./terminal.ts";

/** Failures that only the command line has. */
export const OWN_CODES = {
  usage: EXIT.usage,
  no_store: EXIT.missing,
  ambiguous_id: EXIT.missing,
  nothing_to_seal: EXIT.refused,
  no_receipt: EXIT.refused,
  file_error: EXIT.refused,
  unexpected: EXIT.refused,
} as const;
type OwnCode = keyof typeof OWN_CODES;

type CommandFailure = {
  readonly code: string;
  readonly what: string;
  readonly data: string;
  readonly next: string;
};

const NOTHING = "Nothing was written.";

export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly failure: CommandFailure & { readonly code: OwnCode };

  constructor(code: OwnCode, what: string, next: string, cause?: unknown) {
    super(what, cause === undefined ? {} : { cause });
    this.failure = { code, what, data: NOTHING, next };
  }
}

export const usage = (what: string, next: string): CommandError => new CommandError("usage", what, next);

const USAGE: readonly ErrorCode[] = ["invalid_input", "invalid_json", "payload_too_large", "reserved_key"];
const UNAVAILABLE: readonly ErrorCode[] = [
  "closed",
  "commit_unknown",
  "key_unusable",
  "key_mismatch",
  "unknown_event",
];

function exitCode(error: unknown): number {
  if (error instanceof CommandError) return OWN_CODES[error.failure.code];
  if (!isHoldpointError(error)) return EXIT.refused;
  const { code } = error;
  if (USAGE.includes(code)) return EXIT.usage;
  if (code === "unknown_id") return EXIT.missing;
  return code.startsWith("store_") || UNAVAILABLE.includes(code) ? EXIT.unavailable : EXIT.refused;
}

function commandFailure(error: unknown): CommandFailure {
  if (error instanceof CommandError) return error.failure;
  if (isHoldpointError(error)) {
    const { code, what, data, next } = error;
    return { code, what, data, next };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "unexpected",
    what: `Something unexpected went wrong: ${message}`,
    data: "It is not known whether anything was written.",
    next: "Run it again with DEBUG=1 to see where, and report it.",
  };
}

function fileWords(file: string, error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException;
  // If a temporary file is written first, the error names that file.
  const isItself = path === undefined || resolve(path) === resolve(file);
  if (code === "ENOENT") return isItself ? `There is no file ${file}.` : `There is no folder for ${file}.`;
  if (code === "EISDIR") return `${file} is a folder, not a file.`;
  if (code === "EACCES" || code === "EPERM") return `The file ${file} may not be used by this user.`;
  const why = error instanceof Error ? error.message : String(error);
  return `The file ${file} cannot be used: ${why}.`;
}

/** A file that is missing, unusable or has invalid content. */
export function fileError(file: string, error: unknown): CommandError {
  if (!isHoldpointError(error))
    return new CommandError("file_error", fileWords(file, error), "Check the path.", error);
  const what = `The file ${file}: ${error.what}`;
  return new CommandError("file_error", what, "Correct the file.", error);
}

/** On standard error, as text or as one line of JSON. The stack is shown only with DEBUG. */
export function printFailure(terminal: Terminal, error: unknown, json: boolean): number {
  const failure = commandFailure(error);
  if (json) terminal.note(jsonText({ error: failure }));
  else {
    const { code, what, data, next } = failure;
    // The advice is often a command to copy, so it stays on one line.
    const told = hanging(`holdpoint: ${visible(what)}`, terminal).join("\n");
    terminal.note(`${told}\n  ${visible(data)}\n  ${visible(next)} [${code}]`);
  }
  if ((process.env["DEBUG"] ?? "") !== "" && error instanceof Error)
    terminal.note(String(error.stack).split("\n").map(visible).join("\n"));
  return exitCode(error);
}
