/** `hp.monitor`: rules over the live journal, until the handle or the instance closes. */
import { checkMonitorName, checkRules } from "../../core/monitor/check-rules.ts";
import type { MonitorRule, Sighting } from "../../core/monitor/rules.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { agentScope } from "../../kill-switch/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Watched, watchLog } from "./watch-log.ts";

export type MonitorOptions = {
  /** Where it was left is kept under this name; several processes with the same name are one monitor. */
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  /** Only what these agents do. A name may end in `*`. */
  readonly agents?: readonly string[];
  /** Only workflows of these names, and their calls. */
  readonly workflows?: readonly string[];
  /** Of calls, only those of these tools. */
  readonly tools?: readonly string[];
};

export type Monitor = {
  readonly name: string;
  /** Resolves when everything that was committed before was looked at. */
  caughtUp(): Promise<void>;
  /** Keeps where it stands and ends. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const FIELDS = ["name", "rules", "agents", "workflows", "tools"];

type Filter = (name: string | null | undefined) => boolean;

function filterOf(
  field: string,
  names: unknown,
  spell: (name: string) => string = String,
): Filter | undefined {
  if (names === undefined) return undefined;
  const isList = Array.isArray(names) && names.length > 0;
  if (!isList || !names.every((one) => typeof one === "string" && one !== ""))
    return rejectInput(`"${field}" is a list of names.`);
  const list = names.map((one) => spell(String(one)));
  return (name) =>
    name != null &&
    list.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
}

function filtersOf({ agents, workflows, tools }: MonitorOptions): (sighting: Sighting) => boolean {
  const isAgent = filterOf("agents", agents, agentScope);
  const isWorkflow = filterOf("workflows", workflows);
  const isTool = filterOf("tools", tools);
  return ({ agent, workflow, tool }) =>
    isAgent?.(agent) !== false &&
    isWorkflow?.(workflow?.name) !== false &&
    (tool === null || isTool?.(tool) !== false);
}

function checkMonitor(given: MonitorOptions): Watched {
  const options = checkFields("A monitor", given, FIELDS);
  const name = checkMonitorName(options.name);
  return { name, rules: checkRules(options.rules), isWatched: filtersOf(options) };
}

/** `names`: of the monitors that run in this process. */
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
    const reader = await watchLog(runtime, monitor, signal);
    // The instance waits for it before it lets go of the store.
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
