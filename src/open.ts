/**
 * Opens the store and the runtime of an instance from the options of `holdpoint()`. The options are checked when the
 * instance is made, not at the first call.
 */

import { hostname } from "node:os";
import { outsideCallers } from "./effects/call-context.ts";
import type { Tool } from "./effects/tool.ts";
import { idleClock, storeClock, wallClock } from "./kernel/clock.ts";
import { HoldpointError } from "./kernel/errors.ts";
import { checkFields, isPlainObject } from "./kernel/fields.ts";
import { partLoader } from "./kernel/load-part.ts";
import { isPrincipal } from "./kernel/principal.ts";
import { HOME_TENANT } from "./people/tenants/stream.ts";
import type { LivePolicy } from "./policy/live-policy.ts";
import type { PolicySource } from "./policy/read.ts";
import { findKeyring, type Keyring, openKeyring } from "./runtime/keyring.ts";
import { MAINTENANCE_INTERVALS } from "./runtime/maintenance.ts";
import { type Notice, noticePrinter } from "./runtime/notices.ts";
import { openRuntime } from "./runtime/open.ts";
import { openWitness } from "./runtime/restore-guard.ts";
import {
  type CrashPoint,
  type OpenRuntime,
  openOnce,
  passCrashPoint,
  pooledRandom,
  type RuntimeOpener,
} from "./runtime/runtime.ts";
import { databaseUrl, dataFolder, keyFile, programName, witnessFolder } from "./runtime/settings.ts";
import { openSqliteStore } from "./stores/sqlite/open.ts";
import type { Store } from "./stores/store.ts";
import { FOLDS, PROJECTIONS } from "./streams.ts";
import type { Definition } from "./workflows/definition.ts";
import { createDispatcher } from "./workflows/run/dispatch.ts";
import type { Definitions, Dispatcher, WorkflowHost } from "./workflows/start.ts";

/** One dispatcher per runtime, created when a workflow first needs it. */
export function createDefinitions(
  known: Map<string, Definition>,
  opening: () => Promise<OpenRuntime>,
): Definitions {
  const dispatchers = new WeakMap<OpenRuntime, Dispatcher>();
  return {
    known,
    async open(): Promise<WorkflowHost> {
      const runtime = await opening();
      const dispatcher = dispatchers.get(runtime) ?? createDispatcher(runtime, idleClock, known);
      dispatchers.set(runtime, dispatcher);
      return { runtime, dispatcher };
    },
  };
}

export type HoldpointOptions = {
  /** Folder of the journal. Default: `HOLDPOINT_DATA`, else the nearest `.holdpoint` upward, else a new one here. */
  readonly folder?: string;
  /** PostgreSQL database to use instead of a folder: `postgres://user@host/database`. Default: `HOLDPOINT_DATABASE`. */
  readonly database?: string;
  readonly tenant?: string;
  /** The program's name: its principal is `agent:<name>`. Default: the file name of the script. */
  readonly agent?: string;
  /** Principals the program acts for. They cannot approve what it requests. */
  readonly onBehalfOf?: readonly string[];
  /** Separation of duties for every approval: the requester of the work cannot decide on it. */
  readonly separationOfDuties?: boolean;
  /**
   * Policy for every tool: a YAML or JSON file (watched while the program runs), or the same document as an object. A
   * tool's own policy is evaluated too, and the stricter verdict applies.
   */
  readonly policy?: PolicySource;
  /** Called when a call waits, an effect is in doubt and so on. Default: print to standard error. */
  readonly notify?: (notice: Notice) => void;
  /** File of the signing key. Default: `HOLDPOINT_KEY_FILE`, else a file in the user's configuration folder. */
  readonly keyFile?: string;
  /** A store you opened yourself. Closing the instance closes it. */
  readonly store?: Store;
  /** `existing` refuses to create a new store. */
  readonly mode?: "read-write" | "existing";
  /** Kind and version of this process, shown to people in the list of nodes. */
  readonly node?: { readonly kind: string; readonly version: string };
  /** How long `close` lets effects under way finish. Default: 30 seconds. */
  readonly drainMs?: number;
  /** Called at each crash point between two commits; for crash tests. */
  readonly reach?: (point: CrashPoint) => void | Promise<void>;
};

const OPENER = Symbol("opener");

/** Marks an instance with what opens its runtime. A copy of the instance keeps the mark. */
export const markOpener = (open: RuntimeOpener): object => ({ [OPENER]: open });
export const findOpener = (hp: object): RuntimeOpener | undefined => Reflect.get(Object(hp), OPENER);

/** The definitions of an instance, for parts composed with it later. */
export const instanceDefinitions = new WeakMap<object, Definitions>();

const load = partLoader(import.meta.url);

export const environment = (name: string): string | undefined => process.env[name];
export const random = pooledRandom();

/** PostgreSQL if an address is configured, else the SQLite file of a folder. */
export async function openConfiguredStore(
  options: HoldpointOptions & { readonly leaseMs?: number },
): Promise<Store> {
  const { mode = "read-write", leaseMs } = options;
  const database = databaseUrl(options, environment);
  if (database !== undefined) {
    const { openPostgres } = await import("./postgres.ts");
    return openPostgres({ database, mode, ...(leaseMs === undefined ? {} : { leaseMs }) });
  }
  const folder = dataFolder(options.folder, environment, process.cwd());
  const projections = PROJECTIONS;
  return openSqliteStore({ folder, folds: FOLDS, projections, clock: wallClock, random, mode });
}

/** If the database is set in the program's code only, a command needs it as well. */
function commandHint({ database }: HoldpointOptions): string | null {
  return database === undefined
    ? null
    : "(with --database, or HOLDPOINT_DATABASE set, for this program's database)";
}

type InstanceParts = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policy: LivePolicy | undefined;
  /** Names of the workflows defined so far. */
  readonly definitions: () => readonly string[];
};

async function openInstance(
  options: HoldpointOptions,
  { tools, policy, definitions }: InstanceParts,
): Promise<OpenRuntime> {
  const store = options.store ?? (await openConfiguredStore(options));
  const agent = `agent:${options.agent ?? programName(process.argv[1])}`;
  const keys = keyFile(options.keyFile, environment);
  let known: Keyring | undefined;
  const runtime = openRuntime({
    store,
    tenant: options.tenant ?? HOME_TENANT,
    agent,
    requester: [agent, ...(options.onBehalfOf ?? [])],
    separate: options.separationOfDuties === true,
    clock: storeClock(wallClock),
    idle: idleClock,
    random,
    tools,
    ...(policy === undefined ? {} : { policy: () => policy.current() }),
    environment,
    renderCard: (...given) =>
      load<typeof import("./cli/shell/sections.ts")>("./cli/shell/sections.ts").cardLines(...given),
    keyring: () => {
      known ??= openKeyring(keys, random);
      return known;
    },
    knownKeyring: () => {
      known ??= findKeyring(keys);
      return known;
    },
    witness: openWitness(witnessFolder(keys)),
    notify: options.notify ?? noticePrinter(commandHint(options)),
    reach: options.reach ?? passCrashPoint,
    process: `${hostname()}/${process.pid}`,
    ...(options.node === undefined ? {} : { node: options.node }),
    definitions,
    ...(options.drainMs === undefined ? {} : { drainMs: options.drainMs }),
    rhythm: MAINTENANCE_INTERVALS,
    seals: true,
  });
  await policy?.open(runtime).catch(async (error: unknown) => {
    await runtime.close();
    throw error;
  });
  return runtime;
}

/** Opens the runtime at first use, and closes it once. */
export const createOpener = (options: HoldpointOptions, parts: InstanceParts) =>
  openOnce(() => outsideCallers(() => openInstance(options, parts)));

type OptionRule = { readonly isRight: (value: unknown) => boolean; readonly what: string };

const isPath = (value: unknown) => typeof value === "string" && value !== "";
const isText = (value: unknown) => typeof value === "string" && value !== "" && value.length <= 100;
const isFunction = (value: unknown) => typeof value === "function";

/** Every option, and what its value has to be. */
export const INSTANCE_OPTIONS: Readonly<Record<string, OptionRule>> = {
  folder: { isRight: isPath, what: "is a path" },
  database: {
    isRight: (value) => typeof value === "string" && /^postgres(ql)?:\/\/./.test(value),
    what: "is an address such as postgres://user@host/database",
  },
  keyFile: { isRight: isPath, what: "is a path" },
  tenant: {
    isRight: (value) => typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value),
    what: "is a name of at most 64 letters, digits, _ and -",
  },
  agent: {
    isRight: (value) =>
      isPrincipal(`agent:${String(value)}`) && typeof value === "string" && !isPrincipal(value),
    what: 'is a name such as mailer, without "agent:"',
  },
  onBehalfOf: {
    isRight: (value) => Array.isArray(value) && value.every(isPrincipal),
    what: "is a list of principals such as person:ann",
  },
  separationOfDuties: {
    isRight: (value) => typeof value === "boolean",
    what: "is true or false",
  },
  policy: {
    isRight: (value) => isPath(value) || (typeof value === "object" && value !== null),
    what: "is a path, or a policy document",
  },
  node: {
    isRight: (value) =>
      isPlainObject(value) && isText(Reflect.get(value, "kind")) && isText(Reflect.get(value, "version")),
    what: "is what a process says of itself: { kind, version }",
  },
  drainMs: {
    isRight: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    what: "is a whole number of milliseconds",
  },
  notify: { isRight: isFunction, what: "is a function" },
  reach: { isRight: isFunction, what: "is a function" },
  store: {
    isRight: (value) => isFunction((value as { transact?: unknown } | null)?.transact),
    what: "is an open store",
  },
  mode: {
    isRight: (value) => value === "read-write" || value === "existing",
    what: "is read-write or existing",
  },
};

function checkNode(node: unknown): void {
  if (isPlainObject(node)) checkFields('The option "node"', node, ["kind", "version"]);
}

export function checkInstanceOptions(options: unknown): void {
  checkFields("What holdpoint() takes", options, Object.keys(INSTANCE_OPTIONS));
  const { folder, database } = options as { readonly folder?: unknown; readonly database?: unknown };
  if (folder !== undefined && database !== undefined)
    throw new HoldpointError("invalid_input", 'The options "folder" and "database" exclude each other.');
  checkNode((options as { readonly node?: unknown }).node);
  for (const [field, value] of Object.entries(options as object)) {
    const rule = INSTANCE_OPTIONS[field];
    if (value !== undefined && rule !== undefined && !rule.isRight(value))
      throw new HoldpointError("invalid_input", `The option "${field}" ${rule.what}.`);
  }
}
