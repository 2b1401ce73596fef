/** A worker put together with a store: it runs what is declared, and listens to nobody but whoever asks how it is. */
import { randomUUID } from "node:crypto";
import { wallClock } from "./kernel/clock.ts";
import { deliverySettings } from "./notify/settings.ts";
import { keepOpening, type OfficeOptions, openAll, openOffice, openShared } from "./office.ts";
import { environment } from "./open.ts";
import { runAll } from "./runtime/concurrency.ts";
import { byCredential } from "./server/authenticate.ts";
import { createMetrics } from "./server/metrics/metrics.ts";
import type { Route } from "./server/route.ts";
import { healthRoutes } from "./server/routes/health.ts";
import { metricsRoutes } from "./server/routes/metrics.ts";
import { type Server, serve } from "./server/serve.ts";
import type { Settings } from "./server/settings.ts";
import { createTenants, type Tenants } from "./server/tenants.ts";
import { inHandOf, totalsOf } from "./server/totals.ts";
import type { Store } from "./stores/store.ts";

export type WorkOptions = OfficeOptions & { readonly settings: Settings };

export type Working = {
  /** Where it says how it is; null where it does not listen. */
  readonly url: string | null;
  readonly tenants: Tenants;
  /** What runs comes to rest or is left to others, then the store is closed. */
  close(): Promise<void>;
};

async function sayHow(options: WorkOptions, store: Store, tenants: Tenants): Promise<Server | undefined> {
  const { settings, version, log } = options;
  if (settings.healthPort === undefined) return undefined;
  const metrics = createMetrics({
    ...{ ...totalsOf(tenants), listeners: () => 0, holds: () => 0 },
    node: { kind: "worker", version, inHand: (whose) => inHandOf(tenants, whose) },
  });
  const ready = async () => void (await store.position());
  const routes: readonly Route[] = [...healthRoutes({ version, ready }), ...metricsRoutes(metrics)];
  return serve({
    routes,
    // It closes what it has opened itself.
    tenants: { ...tenants, close: async () => undefined },
    authenticate: byCredential({ store, clock: wallClock }),
    settings: { ...settings, port: settings.healthPort },
    clock: wallClock,
    log,
    makeId: randomUUID,
    answered: metrics.answered,
  });
}

/** Opens every tenant of the store, and those that come. */
export async function startWorker(options: WorkOptions): Promise<Working> {
  const { settings, log } = options;
  deliverySettings({}, environment);
  const shared = await openShared(settings);
  const { store } = shared;
  const tenants = createTenants((tenant) => openOffice(options, { store, tenant, kind: "worker" }));
  const over = new AbortController();
  try {
    await openAll(store, tenants);
    const opening = keepOpening(store, tenants, { log, over: over.signal });
    const counter = await sayHow(options, store, tenants);
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
