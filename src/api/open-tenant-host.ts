/**
 * Opens the host of a tenant on this node: an instance with its definitions, maintained and run until it closes.
 * Also follows the list of tenants: opens tenants that other nodes make, and closes those that were closed.
 */

import { admin } from "../admin.ts";
import { type Holdpoint, holdpoint } from "../index.ts";
import { idleClock } from "../kernel/clock.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { errorText } from "../kernel/text.ts";
import { instanceDefinitions, openConfiguredStore } from "../open.ts";
import { HOME_TENANT } from "../people/tenants/stream.ts";
import { readTenantStatus } from "../people/tenants/verbs.ts";
import { refuseOtherKey } from "../runtime/keyring.ts";
import { forEachReadable, isUnreadable, skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../stores/store.ts";
import { type Log, type LogLine, noticeLine } from "./log.ts";
import type { Settings } from "./settings.ts";
import type { TenantHost, TenantHosts } from "./tenant-hosts.ts";

export type TenantHostOptions = {
  readonly settings: Pick<
    Settings,
    "data" | "database" | "policy" | "agent" | "leaseSeconds" | "drainSeconds"
  >;
  readonly version: string;
  readonly log: Log;
  /** Declares tools and workflows for every tenant. The node then runs them. */
  readonly define?: (hp: Holdpoint) => unknown;
  readonly keyFile?: string;
};

/** Role of the process. */
type NodeKind = "server" | "worker";

const AGAIN_MS = 10_000;
const LOOK_MS = 2_000;

type Failing = Pick<LogLine, "level" | "message">;

/** Logs a failure once, and retries until it succeeds or the host closes. */
async function retryUntilDone(
  runtime: Runtime,
  log: Log,
  failing: Failing,
  act: () => Promise<unknown>,
): Promise<void> {
  let told = "";
  while (!runtime.closing.aborted) {
    try {
      await act();
      return;
    } catch (error) {
      const text = errorText(error);
      if (text !== told) log({ ...failing, tenant: runtime.tenant, error: text });
      told = text;
      await idleClock.sleep(AGAIN_MS, runtime.closing);
    }
  }
}

/**
 * Announces deadlines and recovers effects without waiting for a request. A restored store is only read until a person
 * acknowledges the restore; then the notifications held back meanwhile are sent too.
 */
async function maintainTenant(hp: Holdpoint, runtime: Runtime, log: Log, wake: () => void): Promise<void> {
  await retryUntilDone(runtime, log, { level: "warn", message: "no upkeep" }, runtime.epoch);
  wake();
  const undelivered = { level: "error", message: "no delivery" } as const;
  while (!runtime.closing.aborted) await retryUntilDone(runtime, log, undelivered, () => admin(hp).deliver());
}

/** A node with a different key could execute nothing, so it fails at start. Maintenance reports other failures. */
async function refuseWrongKey(runtime: Runtime): Promise<void> {
  await refuseOtherKey(runtime).catch((error: unknown) => {
    if (isHoldpointError(error, "key_mismatch")) throw error;
  });
}

export async function openTenantHost(
  { settings, version, define, keyFile, log }: TenantHostOptions,
  { store, tenant, kind }: { readonly store: Store; readonly tenant: string; readonly kind: NodeKind },
): Promise<TenantHost> {
  const hp = holdpoint({
    store,
    tenant,
    agent: settings.agent,
    node: { kind, version },
    drainMs: settings.drainSeconds * 1_000,
    notify: (notice) => log(noticeLine(notice, tenant)),
    ...(settings.policy === undefined ? {} : { policy: settings.policy }),
    ...(keyFile === undefined ? {} : { keyFile }),
  });
  const inside = instanceDefinitions.get(hp);
  if (inside === undefined) throw new TypeError("an instance without an inside");
  try {
    await define?.(hp);
    const { runtime, dispatcher } = await inside.open();
    if (tenant === HOME_TENANT) await refuseWrongKey(runtime);
    const wake = () => {
      if (inside.known.size > 0) dispatcher.work();
    };
    maintainTenant(hp, runtime, log, wake).catch(() => undefined);
    const { rest } = dispatcher;
    return { tenant, runtime, wake, rest, close: () => hp.close() };
  } catch (error) {
    await hp.close();
    throw error;
  }
}

/** An instance closes its store with itself; this store is shared. */
const lendStore = (store: Store): Store => ({ ...store, close: async () => undefined });

type SharedStore = { readonly store: Store; close(): Promise<void> };

export async function openSharedStore(settings: TenantHostOptions["settings"]): Promise<SharedStore> {
  const { data, database, leaseSeconds } = settings;
  const opened = await openConfiguredStore({
    ...(data === undefined ? {} : { folder: data }),
    ...(database === undefined ? {} : { database, leaseMs: leaseSeconds * 1_000 }),
  });
  return { store: lendStore(opened), close: () => opened.close() };
}

/**
 * Opens every tenant with status `open`. Faults of policy and definitions are thrown. A tenant that this program cannot
 * read does not block the others, and is reported afterwards.
 */
async function openNewTenants(
  store: Store,
  tenants: Pick<TenantHosts, "of">,
  known: Set<string>,
): Promise<void> {
  await forEachReadable(new Set([HOME_TENANT, ...(await store.tenants())]), async (tenant) => {
    if (known.has(tenant)) return;
    if ((await readTenantStatus({ store }, tenant)).status === "open") await tenants.of(tenant);
    known.add(tenant);
  });
}

/** Tenants that it cannot read are left to other nodes, and to `followTenants` to report. */
export async function openAllTenants(store: Store, tenants: Pick<TenantHosts, "of">): Promise<void> {
  await skipUnreadable(openNewTenants(store, tenants, new Set()));
}

/** Closes the hosts of tenants that any node closed. Work there ends in the background and delays no caller. */
async function closeClosedTenants(
  store: Store,
  tenants: MaintainedHosts,
  failed: (error: unknown) => void,
): Promise<void> {
  await forEachReadable(await tenants.open(), async ({ tenant }) => {
    if (tenant !== HOME_TENANT && (await readTenantStatus({ store }, tenant)).status === "closed")
      tenants.leave(tenant).catch(failed);
  });
}

type MaintainedHosts = Pick<TenantHosts, "of" | "open" | "leave">;

/** Also opens tenants that other nodes make later, and closes those that were closed. */
export async function followTenants(
  store: Store,
  tenants: MaintainedHosts,
  { log, over }: { readonly log: Log; readonly over: AbortSignal },
): Promise<void> {
  const known = new Set<string>();
  const left = new Set<string>();
  const failed = (error: unknown) => {
    const text = errorText(error);
    if (over.aborted || left.has(text)) return;
    if (isUnreadable(error)) left.add(text);
    log({ level: "warn", message: "tenants", error: text });
  };
  while (!over.aborted) {
    await openNewTenants(store, tenants, known).catch(failed);
    await closeClosedTenants(store, tenants, failed).catch(failed);
    await idleClock.sleep(LOOK_MS, over);
  }
}
