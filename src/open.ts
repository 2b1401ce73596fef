/** Opens the store and the runtime of an instance: what `holdpoint()` is given becomes what the hands work with. */
import { hostname } from "node:os";
import { outsideCallers } from "./effects/call-context.ts";
import type { Tool } from "./effects/tool.ts";
import { idleClock, storeClock, wallClock } from "./kernel/clock.ts";
import { HoldpointError } from "./kernel/errors.ts";
import { HOME_TENANT } from "./people/tenants/stream.ts";
import type { LivePolicy } from "./policy/live-policy.ts";
import type { PolicySource } from "./policy/read.ts";
import { findKeyring, type Keyring, openKeyring, pooledRandom } from "./runtime/keyring.ts";
import { MAINTENANCE_INTERVALS } from "./runtime/maintenance.ts";
import { type Notice, noticePrinter } from "./runtime/notices.ts";
import { closeOpened, type OpenRuntime, openRuntime } from "./runtime/open.ts";
import { openWitness } from "./runtime/restore-guard.ts";
import type { CrashPoint } from "./runtime/runtime.ts";
import { databaseUrl, dataFolder, keyFile, programName, witnessFolder } from "./runtime/settings.ts";
import { openSqliteStore } from "./stores/sqlite/open.ts";
import type { Store } from "./stores/store.ts";
import { FOLDS, PROJECTIONS } from "./streams.ts";
import type { Definitions } from "./workflows/start.ts";

export type HoldpointOptions = {
  /** Where the journal is kept. `HOLDPOINT_DATA`, else the nearest `.holdpoint` upward, else a new one here. */
  readonly folder?: string;
  /** A PostgreSQL database instead of a folder: `postgres://user@host/database`. `HOLDPOINT_DATABASE` unless set. */
  readonly database?: string;
  readonly tenant?: string;
  /** The program's name: its principal is `agent:<name>`. The script's file name unless set. */
  readonly agent?: string;
  /** Whom the program acts for: they cannot approve what it asks. */
  readonly actsFor?: readonly string[];
  /** Separation of duties in everything that people are asked: whoever posted the work does not decide about it. */
  readonly separationOfDuties?: boolean;
  /**
   * Who decides about every tool: a policy file (YAML or JSON, followed while the program runs) or the same document as an
   * object. A tool's own policy is asked too, and the stricter answer counts.
   */
  readonly policy?: PolicySource;
  /** Told when a call waits, an effect is in doubt and so on. Printed on standard error unless set. */
  readonly notify?: (notice: Notice) => void;
  /** The key that signs. `HOLDPOINT_KEY_FILE`, else a file in the user's configuration folder. */
  readonly keyFile?: string;
  /** Bring a store of your own; it is closed with the instance. */
  readonly store?: Store;
  /** `existing` refuses to make a new store. */
  readonly mode?: "read-write" | "existing";
  /** What kind of node this process is in a fleet, and of which version; for people who look at who is there. */
  readonly node?: { readonly kind: string; readonly version: string };
  /** How long effects under way get to end when it closes; 30 seconds unless set. */
  readonly drainMs?: number;
  /** Called at the places between two commits; for crash tests. */
  readonly reach?: (point: CrashPoint) => void | Promise<void>;
};

/** What stands behind an instance, for the parts that are put together with it. */
export const insides = new WeakMap<object, Definitions>();

export const environment = (name: string): string | undefined => process.env[name];
export const random = pooledRandom();

/** PostgreSQL where an address is given, else the file of a folder. */
export async function openStore(options: HoldpointOptions & { readonly leaseMs?: number }): Promise<Store> {
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

/** A database that only the program names has to be named to the command as well. */
function commandHint({ database }: HoldpointOptions): string | null {
  return database === undefined
    ? null
    : "(with --database, or HOLDPOINT_DATABASE set, for this program's database)";
}

export type Parts = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policy: LivePolicy | undefined;
  /** Names of the workflows that are defined by now. */
  readonly definitions: () => readonly string[];
};

async function open(options: HoldpointOptions, { tools, policy, definitions }: Parts): Promise<OpenRuntime> {
  const store = options.store ?? (await openStore(options));
  const agent = `agent:${options.agent ?? programName(process.argv[1])}`;
  const keys = keyFile(options.keyFile, environment);
  let known: Keyring | undefined;
  const runtime = openRuntime({
    store,
    tenant: options.tenant ?? HOME_TENANT,
    agent,
    requester: [agent, ...(options.actsFor ?? [])],
    separate: options.separationOfDuties === true,
    clock: storeClock(wallClock),
    idle: idleClock,
    random,
    tools,
    ...(policy === undefined ? {} : { policy: () => policy.current() }),
    environment,
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
    reach: options.reach ?? (() => undefined),
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

/** Opened at the first use, closed once. */
export function opener(options: HoldpointOptions, parts: Parts) {
  let runtime: Promise<OpenRuntime> | undefined;
  let closed: Promise<void> | undefined;
  return {
    open: (): Promise<OpenRuntime> => {
      if (closed !== undefined)
        return Promise.reject(new HoldpointError("closed", "This instance was closed."));
      runtime ??= outsideCallers(() => open(options, parts)).catch((error: unknown) => {
        runtime = undefined;
        throw error;
      });
      return runtime;
    },
    close: (): Promise<void> => {
      closed ??= runtime === undefined ? Promise.resolve() : closeOpened(runtime);
      return closed;
    },
  };
}
