/** Parts of a command: flags, values, context, exit codes; its failures; the flags that locate the same store again; the version. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Admin } from "../../admin.ts";
import type { Holdpoint } from "../../index.ts";
import { type ErrorCode, isHoldpointError } from "../../kernel/errors.ts";
import { visible } from "../../kernel/text.ts";
import { hanging, jsonText, type Terminal } from "./terminal.ts";

export type Flag = {
  /** Placeholder of the flag's value in the help text. Absent: the flag is on or off. */
  readonly value?: string;
  readonly summary: string;
  readonly required?: true;
  readonly repeatable?: true;
};

export type Flags = { readonly [name: string]: Flag };
export type Values = ReadonlyMap<string, readonly string[]>;

/** An instance with its administration: of a store, or of a server. */
export type Instance = Holdpoint & Admin;

export type Context = {
  readonly terminal: Terminal;
  readonly values: Values;
  readonly words: readonly string[];
  readonly json: boolean;
  readonly full: boolean;
  /** Location of the store, existing or not: a folder, a database's address without its password, or a server's. */
  readonly folder: string;
  readonly hasStore: boolean;
  readonly hp: Instance;
  /** The acting person: the operating system's user, or the person logged in to a server. */
  readonly person: string;
  readonly now: number;
};

export type Command = {
  readonly name: string;
  /** Arguments after the name, one word each. */
  readonly words: readonly string[];
  readonly summary: string;
  /** Further text for `--help`. */
  readonly details?: readonly string[];
  /** Lines to type, shown by `--help`. */
  readonly examples?: readonly string[];
  readonly flags: Flags;
  /** By subcommand, the names of the flags that go with it. */
  readonly parts?: { readonly [name: string]: readonly string[] };
  /** Also runs without a store. */
  readonly storeless?: true;
  /** Why the command does not work on a server; absent: it does. */
  readonly onlyHere?: string;
  /** Uses no store at all, local or remote. */
  readonly placeless?: true;
  /** For all tenants of a store, or for none. */
  readonly tenantless?: true;
  run(context: Context): Promise<number>;
};

export const EXIT = { ok: 0, refused: 1, usage: 2, missing: 3, unavailable: 4, interrupted: 130 } as const;

export const COMMON_FLAGS: Flags = {
  data: {
    value: "<folder>",
    summary: "the data folder; else HOLDPOINT_DATA, else the nearest .holdpoint upward",
  },
  database: {
    value: "<url>",
    summary: "a PostgreSQL database instead of a folder; else HOLDPOINT_DATABASE",
  },
  server: {
    value: "<url>",
    summary: "a server instead of a store of this machine; else HOLDPOINT_SERVER, else what `login` keeps",
  },
  tenant: {
    value: "<name>",
    summary: "another tenant of that store than the home tenant; at a server the credential says which",
  },
  json: { summary: "JSON for programs: one document, or one line each for lists" },
  help: { summary: "what the command does, and its flags" },
};

export const FULL: Flag = { summary: "show long values in full" };
export const REASON: Flag = { value: "<text>", summary: "why; it is recorded", required: true };

export function flag(context: Pick<Context, "values">, name: string): string | undefined {
  return context.values.get(name)?.at(-1);
}

export function isOn(context: Pick<Context, "values">, name: string): boolean {
  return context.values.has(name);
}

/** A flag whose presence the parser has checked. */
export function needed(context: Pick<Context, "values">, name: string): string {
  return flag(context, name) ?? "";
}

export function word(context: Pick<Context, "words">, at = 0): string {
  return context.words[at] ?? "";
}

export const shellQuote = (text: string): string =>
  /^[\w.,:@%+/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Empty if the environment or the folder determines it. An address may hold a password, and is not repeated. */
export function whereFlags(context: Pick<Context, "values">): string {
  const tenant = flag(context, "tenant");
  return `${storeFlags(context)}${tenant === undefined ? "" : ` --tenant ${shellQuote(tenant)}`}`;
}

function storeFlags(context: Pick<Context, "values">): string {
  const server = flag(context, "server");
  if (server !== undefined) return ` --server ${shellQuote(server)}`;
  const folder = flag(context, "data");
  if (folder !== undefined) return ` --data ${shellQuote(folder)}`;
  return flag(context, "database") === undefined ? "" : " --database …";
}

export function version(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return String((JSON.parse(readFileSync(file, "utf8")) as { version?: unknown }).version);
}

/** Flags of `demo` that only `demo refund` has. */
export const REFUND_FLAGS = {
  amount: { value: "<usd>", summary: "refund: what the model proposes to pay back; 1200 unless set" },
  "approve-cap": { value: "<usd>", summary: "refund: play the person, who approves this much at most" },
} as const;

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
