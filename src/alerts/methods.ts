/**
 * The methods of `monitor` and `alerts` of `admin(hp)`. Monitors run until their handle or the instance closes; alerts are
 * listed, read and acknowledged.
 */

import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { isPerson, isPrincipal } from "../kernel/principal.ts";
import { agentScope, alertStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { findIds, rowPage, rowSummary } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { acknowledgeAlert } from "./rules/alert.ts";
import { checkMonitorName, checkRules } from "./rules/check-rules.ts";
import type { MonitoredEntry, MonitorRule } from "./rules/monitor-rule.ts";
import { runMonitor, type WatchedMonitor } from "./run-monitor.ts";
import type { LiveAlert } from "./stream.ts";

export type Alert = LiveAlert & { readonly id: string };
export type AlertStatus = LiveAlert["status"] | "any";
export type AlertPage = {
  /** Default: `standing`. */
  readonly status?: AlertStatus;
  readonly order?: "oldest" | "newest";
  readonly limit?: number;
  readonly after?: string;
};
export type AlertSummary = { readonly id: string; readonly [field: string]: Json };
export type AlertList = { readonly items: readonly AlertSummary[]; readonly next: string | null };
type AlertWord = { readonly by: string; readonly note?: string };

export type Alerts = {
  /** Default: standing alerts, newest first. `next` is the cursor of the following page. */
  list(page?: AlertPage): Promise<AlertList>;
  get(id: string): Promise<Alert>;
  /** Ids that begin with the given text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Records that a person has seen it. The alert stays `standing` until its condition ends. */
  acknowledge(id: string, word: AlertWord): Promise<Alert>;
};

type TenantStore = Pick<Runtime, "store" | "tenant" | "clock">;

const ALERT = "An alert";
const VIEW = "alerts";
const STATUSES: readonly unknown[] = ["standing", "cleared", "any", undefined];

function checkAlertPage(page: AlertPage): AlertPage {
  const { status } = checkFields("A page of alerts", page, ["status", "order", "limit", "after"]);
  if (!STATUSES.includes(status))
    rejectInput(`An alert's status is standing, cleared or any, not "${displayValue(status)}".`);
  return page;
}

async function listAlerts(place: TenantStore, page: AlertPage): Promise<AlertList> {
  const { status = "standing", order = "newest", limit = 100, after } = checkAlertPage(page);
  const list = { view: VIEW, kind: "alert", prefix: "alr", bucket: status } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after });
  return { items: rows.map(rowSummary), next };
}

function unknownAlert(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no alert ${displayValue(id)}.`, {
    next: "Check the id; `holdpoint alerts --all` lists them.",
  });
}

async function getAlert(place: TenantStore, id: string): Promise<Alert> {
  const state = await readState(place, alertStream(id));
  if (state.status === "none") throw unknownAlert(id);
  return structuredClone({ ...state, id });
}

function checkAlertWord({ by, note }: AlertWord): { readonly by: string; readonly note: string | null } {
  if (!isPrincipal(by) || !isPerson(by))
    rejectInput(`"${displayValue(by)}" is not a person: write person:<name>.`);
  const isText =
    note === undefined || (typeof note === "string" && note.isWellFormed() && note.length <= 10_000);
  if (!isText) rejectInput("A note is a text of at most 10000 characters.");
  return { by, note: note ?? null };
}

async function acknowledgeNow(place: TenantStore, id: string, given: AlertWord): Promise<Alert> {
  const word = checkAlertWord(checkFields("What is said", given, ["by", "note"]));
  const answer = await runCommand(place, { write: [alertStream(id)] }, (draft) =>
    acknowledgeAlert(draft, id, word),
  );
  if (answer.kind === "unknown") throw unknownAlert(id);
  return structuredClone({ ...answer.state, id });
}

export function alertMethods(open: () => Promise<Runtime>): Alerts {
  return {
    list: async (page = {}) => listAlerts(await open(), page),
    get: async (id) => getAlert(await open(), checkId(ALERT, id)),
    find: async (beginning) => findIds(await open(), VIEW, checkId(ALERT, beginning)),
    acknowledge: async (id, word) => acknowledgeNow(await open(), checkId(ALERT, id), word),
  };
}

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
  readonly alerts: Alerts;
};

export function monitorMethods(open: () => Promise<Runtime>): Monitors {
  const names = new Set<string>();
  return { monitor: (options) => startMonitor(open, names, options), alerts: alertMethods(open) };
}
