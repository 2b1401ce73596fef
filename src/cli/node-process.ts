/** What `serve` and `worker` have in common: settings, definitions, and an end when somebody says so. */
import { existsSync } from "node:fs";
import { createLog, type Log } from "../api/log.ts";
import type { TenantHostOptions } from "../api/open-tenant-host.ts";
import type { Settings } from "../api/settings.ts";
import { databaseWithoutPassword, dataFolder } from "../runtime/settings.ts";

import type { Context } from "./command.ts";
import { loadDefinitions } from "./load-definitions.ts";
import { version } from "./version.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const environment = (name: string): string | undefined => process.env[name];

/** The first signal, or nobody reads what is printed: a second one ends the process at once. */
export function untilTold(): { readonly signal: Promise<void>; stop(): void } {
  let resolve: () => void = () => undefined;
  const signal = new Promise<void>((done) => {
    resolve = done;
  });
  for (const name of SIGNALS) process.once(name, resolve);
  const stop = () => {
    for (const name of SIGNALS) process.removeListener(name, resolve);
  };
  return { signal, stop };
}

const LINGER_MS = 1_000;
/** Beside the time that requests and effects have to end. */
const CLOSING_MS = 10_000;

/** A database that does not answer any more would keep the process there far longer than whoever stops it waits. */
function endAnyway({ graceSeconds, drainSeconds }: Settings): void {
  const ms = (graceSeconds + drainSeconds) * 1_000 + CLOSING_MS;
  setTimeout(() => {
    process.stderr.write(
      `holdpoint: not everything could be closed within ${ms / 1_000} s; others go on as if this process had died.\n`,
    );
    process.exit(1);
  }, ms).unref();
}

/** Everything is closed. What a tool still holds that did not end in time would keep the process there for ever. */
export async function closeForGood(close: () => Promise<void>, settings: Settings): Promise<void> {
  endAnyway(settings);
  try {
    await close();
  } finally {
    // Waits for nobody: a process that nothing holds ends before.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}

export async function nodeSettings({ values }: Context): Promise<Settings> {
  const { readSettings } = await import("../api/settings.ts");
  const settings = readSettings({ flags: values, environment, isFile: existsSync });
  const { database, data } = settings;
  return database === undefined
    ? { ...settings, data: dataFolder(data, environment, process.cwd()) }
    : settings;
}

function logOf({ log }: Settings): Log {
  const form = log ?? (process.stderr.isTTY === true ? "text" : "json");
  return createLog(form, (text) => void process.stderr.write(text), Date.now);
}

export async function nodeOptions(settings: Settings): Promise<TenantHostOptions & { settings: Settings }> {
  const { definitions } = settings;
  const base = { settings, version: version(), log: logOf(settings) };
  return definitions === undefined ? base : { ...base, define: await loadDefinitions(definitions) };
}

export const shownStore = ({ database, data }: Settings): string =>
  database === undefined ? (data ?? "") : databaseWithoutPassword(database);
