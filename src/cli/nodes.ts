/**
 * The command that lists nodes, and the common parts of `serve` and `worker`: settings, definitions, and a clean
 * shutdown on a signal.
 */

import { existsSync } from "node:fs";
import { createLog, type Log } from "../api/log.ts";
import type { TenantHostOptions } from "../api/open-tenant-host.ts";
import type { Settings } from "../api/settings.ts";
import { visible } from "../kernel/text.ts";
import type { FleetNode } from "../runtime/contract.ts";
import { databaseWithoutPassword, dataFolder } from "../runtime/settings.ts";
import { type Command, type Context, EXIT, isOn, version } from "./shell/command.ts";
import { DEFAULT_LIMIT, printList, readLimit, readList } from "./shell/lists.ts";
import { formatMoment, formatSpan } from "./shell/terminal.ts";
import { loadDefinitions } from "./workflows/load.ts";

const HEADS = ["EPOCH", "STATUS", "KIND", "VERSION", "SINCE", "WORKFLOWS", "EFFECTS", "AGENT", "PROCESS"];

/** Columns as documented in the reference. */
function nodeCells(node: FleetNode, since: string): readonly string[] {
  const { id, status, kind, version, workflows, effects, agent, process } = node;
  return [id, status, kind, version ?? "-", since, String(workflows), String(effects), agent, process].map(
    visible,
  );
}

export const nodesCommand: Command = {
  name: "nodes",
  words: [],
  summary: "List the processes that execute, and what each is running",
  details: [
    "live: it holds its epoch. lapsed: it lost it, and the next process that executes takes its work over. closed and died have ended (--all).",
    "Workflows that wait for people or time are in nobody's hands, and counted nowhere.",
    "In a pipe each line is tab-separated: epoch, status, kind, version, since, workflows, effects, agent, host/pid.",
  ],
  flags: {
    all: { summary: "those that have ended too, newest first" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  async run(context) {
    const all = isOn(context, "all");
    const found = await readList(readLimit(context), (cursor) => context.hp.nodes.list({ all, ...cursor }));
    printList(context, found, {
      heads: HEADS,
      cells: (node) => nodeCells(node, formatSpan(context.now - node.openedAt)),
      piped: (node) => nodeCells(node, formatMoment(node.openedAt)),
      empty: "No node is there: a server, a worker or a program that executes is one from its first call on.",
    });
    return EXIT.ok;
  },
};

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const environment = (name: string): string | undefined => process.env[name];

/** Resolves at the first signal. A second one ends the process at once. */
export function untilSignal(): { readonly signal: Promise<void>; stop(): void } {
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
/** In addition to the time that requests and effects have to end. */
const CLOSING_MS = 10_000;

/** A database that does not answer would keep the process alive far longer than an operator waits. */
function endAnyway({ graceSeconds, drainSeconds }: Settings): void {
  const ms = (graceSeconds + drainSeconds) * 1_000 + CLOSING_MS;
  setTimeout(() => {
    process.stderr.write(
      `holdpoint: not everything could be closed within ${ms / 1_000} s; others go on as if this process had died.\n`,
    );
    process.exit(1);
  }, ms).unref();
}

/** Closes everything, then exits: a tool that did not end in time would keep the process alive for ever. */
export async function closeForGood(close: () => Promise<void>, settings: Settings): Promise<void> {
  endAnyway(settings);
  try {
    await close();
  } finally {
    // Unreferenced: a process that nothing keeps alive exits earlier.
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
