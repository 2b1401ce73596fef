/** Composition root of the HTTP server, used by `holdpoint serve` and by tests only. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { authenticateByCredential, withoutAuthentication } from "./api/authenticate.ts";
import { createAudience, type EventAudience } from "./api/events/listeners.ts";
import { defineExample, example } from "./api/example.ts";
import type { BackpressureLimits } from "./api/guards/quotas.ts";
import { createMetrics, readViewTotals, readWorkInHand, watchJournal } from "./api/metrics/metrics.ts";
import {
  followTenants,
  openAllTenants,
  openSharedStore,
  openTenantHost,
  type TenantHostOptions,
} from "./api/open-tenant-host.ts";
import { readDeskFiles } from "./api/pages/desk.ts";
import { allRoutes } from "./api/routes.ts";
import { type Server, startHttpServer } from "./api/server.ts";
import type { Settings } from "./api/settings.ts";
import { createTenantHosts, type TenantHost, type TenantHosts } from "./api/tenant-hosts.ts";
import type { CardParts } from "./approvals/routes.ts";
import { cardLines } from "./cli/shell/sections.ts";
import { wallClock } from "./kernel/clock.ts";
import { errorText } from "./kernel/text.ts";
import { deliverySettings } from "./notify/settings.ts";
import { environment, random } from "./open.ts";
import { HOME_TENANT } from "./people/tenants/stream.ts";
import { runAll } from "./runtime/concurrency.ts";
import { dataFolder } from "./runtime/settings.ts";
import type { Store } from "./stores/store.ts";

export type ServeOptions = TenantHostOptions & {
  readonly settings: Settings;
  readonly checkAnswers?: boolean;
  readonly audience?: { readonly beatMs: number };
  readonly outflow?: BackpressureLimits;
};

/** The same relative path from `src/` and from `dist/`. */
const DESK = fileURLToPath(new URL("../dashboard/dist/", import.meta.url));
const EXAMPLE_POLICY = fileURLToPath(new URL("../examples/desk/policy.yaml", import.meta.url));
const EXAMPLE_FILE = "example-refunds.log";
const FIRST_WITHIN_MS = 5_000;

export type StartedServer = Server & {
  /** Public address of the pages for people (`HOLDPOINT_PUBLIC_URL`), if set. */
  readonly publicUrl: string | null;
  office(tenant?: string): Promise<TenantHost>;
  /** The pending approval of the example, if there is one. */
  asked(): Promise<string | null>;
};

/** Adds the tool and policy of the example, if it is switched on. */
function withExample(options: ServeOptions): ServeOptions {
  const { settings, define } = options;
  if (!settings.example) return options;
  const file = path.join(dataFolder(settings.data, environment, process.cwd()), EXAMPLE_FILE);
  return {
    ...options,
    settings: { ...settings, policy: settings.policy ?? EXAMPLE_POLICY },
    async define(hp) {
      await define?.(hp);
      defineExample(hp, file);
    },
  };
}

/** The server starts even if the example's first approval request fails. */
async function beginExample({ settings, log }: ServeOptions, office: TenantHost): Promise<void> {
  if (!settings.example) return;
  const failed = (error: unknown) => log({ level: "warn", message: "example", error: errorText(error) });
  await example.askFirst(office, FIRST_WITHIN_MS).catch(failed);
}

/** Commands shown on a page name this server if its public address is known. */
function cardParts(): CardParts {
  const { publicUrl } = deliverySettings({}, environment);
  return { render: cardLines, where: publicUrl === null ? "" : ` --server ${publicUrl}` };
}

async function listen(
  options: ServeOptions,
  store: Store,
  tenants: TenantHosts,
  audience: EventAudience,
): Promise<Server> {
  const { settings, version, log } = options;
  const metrics = createMetrics({
    ...{ ...readViewTotals(tenants), listeners: audience.size, holds: audience.holds.size },
    node: { kind: "server", version, inHand: (whose) => readWorkInHand(tenants, whose) },
  });
  const failed = (error: unknown) => log({ level: "error", message: "metrics", error: errorText(error) });
  tenants.opened((office) =>
    watchJournal(office.runtime, audience.hubOf(office), { tally: metrics.of(office.tenant), log, failed }),
  );
  tenants.left(audience.leave);
  // Report errors in policy and definitions before the server accepts connections.
  await openAllTenants(store, tenants);
  const condition = { version, ready: async () => void (await store.position()) };
  const hands = { store, clock: wallClock, random };
  const pages = readDeskFiles(DESK);
  return startHttpServer({
    routes: allRoutes({
      ...{ condition, audience, hands, metrics, cards: cardParts(), pages },
      example: settings.example ? example : undefined,
    }),
    endStreams: audience.end,
    tenants,
    authenticate: settings.noAuth
      ? withoutAuthentication
      : authenticateByCredential({ store, clock: wallClock }),
    settings,
    clock: wallClock,
    log,
    makeId: randomUUID,
    answered: metrics.answered,
    ...(pages === undefined ? {} : { missing: pages.missing }),
    checkAnswers: options.checkAnswers ?? false,
    ...(options.outflow === undefined ? {} : { outflow: options.outflow }),
  });
}

/** Opens every tenant of the store, then listens. */
export async function startServer(given: ServeOptions): Promise<StartedServer> {
  const options = withExample(given);
  const { settings, log } = options;
  // Report invalid delivery settings before opening anything.
  const { publicUrl } = deliverySettings({}, environment);
  const shared = await openSharedStore(settings);
  const { store } = shared;
  const tenants = createTenantHosts((tenant) => openTenantHost(options, { store, tenant, kind: "server" }));
  const failed = (error: unknown) => log({ level: "error", message: "events", error: errorText(error) });
  const known = new Set<string>();
  tenants.opened(({ tenant }) => void known.add(tenant));
  const holds = { each: settings.holds, all: settings.allHolds, tenants: () => known.size };
  const audience = createAudience({
    clock: wallClock,
    most: settings.listeners,
    holds,
    failed,
    ...options.audience,
  });
  const over = new AbortController();
  let server: Server | undefined;
  let opening: Promise<void> | undefined;
  const end = async () => {
    if (server !== undefined) return server.close();
    audience.end();
    await tenants.close();
  };
  const close = async () => {
    over.abort();
    tenants.rest();
    await runAll([() => Promise.all([opening, end()]), shared.close]);
  };
  try {
    server = await listen(options, store, tenants, audience);
    opening = followTenants(store, tenants, { log, over: over.signal });
    const office = (tenant = HOME_TENANT) => tenants.of(tenant);
    await beginExample(options, await office());
    const asked = async () =>
      settings.example ? (await example.standing((await office()).runtime)).approval : null;
    return { ...server, publicUrl, close, office, asked };
  } catch (error) {
    // Report the original error even if closing fails too.
    await close().catch(() => undefined);
    throw error;
  }
}
