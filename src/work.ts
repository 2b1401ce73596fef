/** Composition root of a worker: it runs the declared workflows and serves health and metrics only. */
import { randomUUID } from "node:crypto";
import { authenticateByCredential } from "./api/authenticate.ts";
import { createMetrics, readViewTotals, readWorkInHand } from "./api/metrics/metrics.ts";
import { healthRoutes, metricsRoutes } from "./api/metrics/routes.ts";
import {
  followTenants,
  openAllTenants,
  openSharedStore,
  openTenantHost,
  type TenantHostOptions,
} from "./api/open-tenant-host.ts";
import type { Route } from "./api/route.ts";
import { type Server, startHttpServer } from "./api/server.ts";
import type { Settings } from "./api/settings.ts";
import { createTenantHosts, type TenantHosts } from "./api/tenant-hosts.ts";
import { wallClock } from "./kernel/clock.ts";
import { deliverySettings } from "./notify/settings.ts";
import { environment } from "./open.ts";
import { runAll } from "./runtime/concurrency.ts";
import type { Store } from "./stores/store.ts";

type WorkOptions = TenantHostOptions & { readonly settings: Settings };

export type StartedWorker = {
  /** Address of the health endpoint; null if it does not listen. */
  readonly url: string | null;
  readonly tenants: TenantHosts;
  /** Lets running work finish or leaves it to other nodes, then closes the store. */
  close(): Promise<void>;
};

async function serveHealth(
  options: WorkOptions,
  store: Store,
  tenants: TenantHosts,
): Promise<Server | undefined> {
  const { settings, version, log } = options;
  if (settings.healthPort === undefined) return undefined;
  const metrics = createMetrics({
    ...{ ...readViewTotals(tenants), listeners: () => 0, holds: () => 0 },
    node: { kind: "worker", version, inHand: (whose) => readWorkInHand(tenants, whose) },
  });
  const ready = async () => void (await store.position());
  const routes: readonly Route[] = [...healthRoutes({ version, ready }), ...metricsRoutes(metrics)];
  return startHttpServer({
    routes,
    // The worker closes the tenants itself.
    tenants: { ...tenants, close: async () => undefined },
    authenticate: authenticateByCredential({ store, clock: wallClock }),
    settings: { ...settings, port: settings.healthPort },
    clock: wallClock,
    log,
    makeId: randomUUID,
    answered: metrics.answered,
  });
}

/** Opens every tenant of the store, and those created later. */
export async function startWorker(options: WorkOptions): Promise<StartedWorker> {
  const { settings, log } = options;
  deliverySettings({}, environment);
  const shared = await openSharedStore(settings);
  const { store } = shared;
  const tenants = createTenantHosts((tenant) => openTenantHost(options, { store, tenant, kind: "worker" }));
  const over = new AbortController();
  try {
    await openAllTenants(store, tenants);
    const opening = followTenants(store, tenants, { log, over: over.signal });
    const counter = await serveHealth(options, store, tenants);
    return {
      url: counter?.url ?? null,
      tenants,
      async close() {
        over.abort();
        await runAll([() => Promise.all([opening, tenants.close()]), () => counter?.close(), shared.close]);
      },
    };
  } catch (error) {
    over.abort();
    await tenants.close();
    await shared.close();
    throw error;
  }
}
