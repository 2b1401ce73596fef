/** Starts a monitor for a program: checks its options, and runs it until its handle or the instance closes. */
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { agentScope } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { checkMonitorName, checkRules } from "./rules/check-rules.ts";
import type { MonitoredEntry, MonitorRule } from "./rules/monitor-rule.ts";
import { runMonitor, type WatchedMonitor } from "./run-monitor.ts";

export type MonitorOptions = {
  /** Its position is stored under this name. Several processes with the same name are one monitor. */
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  /** Only actions of these agents. A name may end in `*`. */
  readonly agents?: readonly string[];
  /** Only workflows of these names, and their calls. */
  readonly workflows?: readonly string[];
  /** Only calls of these tools. */
  readonly tools?: readonly string[];
};

export type Monitor = {
  readonly name: string;
  /** Resolves when the rules have seen everything that was committed before the call. */
  caughtUp(): Promise<void>;
  /** Stores its position and ends. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const FIELDS = ["name", "rules", "agents", "workflows", "tools"];

type SightingFilter = (name: string | null | undefined) => boolean;

function filterOf(
  field: string,
  names: unknown,
  spell: (name: string) => string = String,
): SightingFilter | undefined {
  if (names === undefined) return undefined;
  const isList = Array.isArray(names) && names.length > 0;
  if (!isList || !names.every((one) => typeof one === "string" && one !== ""))
    return rejectInput(`"${field}" is a list of names.`);
  const list = names.map((one) => spell(String(one)));
  return (name) =>
    name != null &&
    list.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
}

function filtersOf({ agents, workflows, tools }: MonitorOptions): (sighting: MonitoredEntry) => boolean {
  const isAgent = filterOf("agents", agents, agentScope);
  const isWorkflow = filterOf("workflows", workflows);
  const isTool = filterOf("tools", tools);
  return ({ agent, workflow, tool }) =>
    isAgent?.(agent) !== false &&
    isWorkflow?.(workflow?.name) !== false &&
    (tool === null || isTool?.(tool) !== false);
}

function checkMonitor(given: MonitorOptions): WatchedMonitor {
  const options = checkFields("A monitor", given, FIELDS);
  const name = checkMonitorName(options.name);
  return { name, rules: checkRules(options.rules), isWatched: filtersOf(options) };
}

/** `names`: monitors that run in this process. */
export async function startMonitor(
  opening: () => Promise<Runtime>,
  names: Set<string>,
  options: MonitorOptions,
): Promise<Monitor> {
  const monitor = checkMonitor(options);
  const { name } = monitor;
  if (names.has(name)) rejectInput(`A monitor named "${name}" runs here already.`);
  names.add(name);
  const closing = new AbortController();
  try {
    const runtime = await opening();
    const signal = AbortSignal.any([closing.signal, runtime.closing]);
    const reader = await runMonitor(runtime, monitor, signal);
    // The instance waits for it before it closes the store.
    runtime.performing.add(`monitor ${name}`);
    const done = reader.done.finally(() => {
      names.delete(name);
      runtime.performing.delete(`monitor ${name}`);
    });
    done.catch((error: unknown) => runtime.notify({ kind: "maintenance_failed", error }));
    const close = async () => {
      closing.abort();
      await done.catch(() => undefined);
    };
    return { name, caughtUp: () => reader.caughtUp(), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    names.delete(name);
    throw error;
  }
}

export type Monitors = {
  /** Watches the journal with rules that raise alerts or checkpoints. Resolves once it is watching. */
  monitor(options: MonitorOptions): Promise<Monitor>;
};

export function monitorMethods(open: () => Promise<Runtime>): Monitors {
  const names = new Set<string>();
  return { monitor: (options) => startMonitor(open, names, options) };
}
