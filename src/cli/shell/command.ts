/** Parts of a command: flags, values, context, exit codes; the flags that locate the same store again; the version. */

import { readFileSync } from "node:fs";
import type { Admin } from "../../admin.ts";
import type { Holdpoint } from "../../index.ts";
import type { Terminal } from "./terminal.ts";

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
