/** The server put together with a store: the second door, which only `holdpoint serve` and tests go through. */
import { randomUUID } from "node:crypto";
import { cardLines } from "./cli/card-lines.ts";
import { errorText } from "./core/error-text.ts";
import { HOME } from "./core/tenant/state.ts";
import { idleClock, wallClock } from "./engine/clock.ts";
import { deliverySettings } from "./engine/message/settings.ts";
import type { Runtime } from "./engine/runtime.ts";
import { standingOf } from "./engine/tenant/tenants.ts";
import { type Holdpoint, holdpoint } from "./index.ts";
import { environment, insides, openStore, random } from "./open.ts";
import { byCredential, everybody } from "./server/authenticate.ts";
import { createDesk, type Desk } from "./server/events/desk.ts";
import type { Log } from "./server/log.ts";
import { createMetrics, type Metrics, type Whose } from "./server/metrics/metrics.ts";
import { watchJournal } from "./server/metrics/watch-journal.ts";
import { noticeLine } from "./server/notice-line.ts";
import type { CardParts } from "./server/routes/card-pages.ts";
import { allRoutes } from "./server/routes.ts";
import { type Server, serve } from "./server/serve.ts";
import type { Settings } from "./server/settings.ts";
import { createTenants, type Office, type Tenants } from "./server/tenants.ts";
import type { Store } from "./stores/store.ts";

export type ServeOptions = {
  readonly settings: Settings;
  readonly version: string;
  readonly log: Log;
  /** Declares tools and workflows, for every tenant: the server then runs them. */
  readonly define?: (hp: Holdpoint) => unknown;
  readonly keyFile?: string;
  readonly checkAnswers?: boolean;
  readonly desk?: { readonly beatMs: number };
};

export type Started = Server & { office(tenant?: string): Promise<Office> };

const AGAIN_MS = 10_000;

/** Instances close their store with themselves; this one is shared. */
const lent = (store: Store): Store => ({ ...store, close: async () => undefined });

/**
 * Deadlines are announced and effects recovered whether somebody asks or not. A store that was restored is only read until a
 * person has acknowledged that.
 */
async function keepUp(runtime: Runtime, log: Log): Promise<void> {
  let told = "";
  while (!runtime.closing.aborted) {
    try {
      await runtime.epoch();
      return;
    } catch (error) {
      const text = errorText(error);
      if (text !== told) log({ level: "warn", message: "no upkeep", tenant: runtime.tenant, error: text });
      told = text;
      await idleClock.sleep(AGAIN_MS, runtime.closing);
    }
  }
}

async function openOffice(options: ServeOptions, store: Store, tenant: string): Promise<Office> {
  const { settings, define, keyFile, log } = options;
  const hp = holdpoint({
    store,
    tenant,
    agent: "server",
    notify: (notice) => log(noticeLine(notice, tenant)),
    ...(settings.policy === undefined ? {} : { policy: settings.policy }),
    ...(keyFile === undefined ? {} : { keyFile }),
  });
  const inside = insides.get(hp);
  if (inside === undefined) throw new TypeError("an instance without an inside");
  try {
    await define?.(hp);
    const { runtime, dispatcher } = await inside.open();
    const wake = () => {
      if (inside.known.size > 0) dispatcher.work();
    };
    keepUp(runtime, log)
      .then(wake)
      .then(() => keepTelling(hp, runtime, log))
      .catch(() => undefined);
    const { endpoints, messages } = hp;
    return { tenant, runtime, endpoints, messages, wake, close: () => hp.close() };
  } catch (error) {
    await hp.close();
    throw error;
  }
}

/** What nobody is told while a restore stands is told once it is acknowledged. */
async function keepTelling(hp: Holdpoint, runtime: Runtime, log: Log): Promise<void> {
  let told = "";
  while (!runtime.closing.aborted) {
    try {
      await hp.deliver();
    } catch (error) {
      const text = errorText(error);
      if (text !== told) log({ level: "error", message: "no delivery", tenant: runtime.tenant, error: text });
      told = text;
      await idleClock.sleep(AGAIN_MS, runtime.closing);
    }
  }
}

/** Sums over the tenants that are open, where they are not asked for one. */
function metricsOf(tenants: Tenants, desk: Desk): Metrics {
  const total = async (whose: Whose, view: string, bucket: string): Promise<number> => {
    const open = await tenants.open();
    const offices = open.filter(({ tenant }) => whose === "all" || whose.tenant === tenant);
    const counts = offices.map(({ runtime, tenant }) => runtime.store.count(tenant, view, bucket));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  return createMetrics({
    inDoubt: (whose) => total(whose, "actions", "in_doubt"),
    pending: (whose) => total(whose, "approvals", "pending"),
    listeners: desk.size,
    holds: desk.holds.size,
  });
}

/** Commands on a page name this server where its address is known to people. */
function cardParts(): CardParts {
  const { publicUrl } = deliverySettings({}, environment);
  return { render: cardLines, where: publicUrl === null ? "" : ` --server ${publicUrl}` };
}

async function listen(options: ServeOptions, store: Store, tenants: Tenants, desk: Desk): Promise<Server> {
  const { settings, version, log } = options;
  const metrics = metricsOf(tenants, desk);
  const failed = (error: unknown) => log({ level: "error", message: "metrics", error: errorText(error) });
  tenants.opened((office) =>
    watchJournal(office.runtime, desk.hubOf(office), { tally: metrics.of(office.tenant), log, failed }),
  );
  // Whatever is wrong with policy and definitions is said before anybody is listened to.
  for (const tenant of new Set([HOME, ...(await store.tenants())]))
    if ((await standingOf({ store }, tenant)).status === "open") await tenants.of(tenant);
  const condition = { version, ready: async () => void (await store.position()) };
  const hands = { store, clock: wallClock, random };
  return serve({
    routes: allRoutes({ condition, desk, hands, metrics, cards: cardParts() }),
    endStreams: desk.end,
    tenants,
    authenticate: settings.noAuth ? everybody : byCredential({ store, clock: wallClock }),
    settings,
    clock: wallClock,
    log,
    makeId: randomUUID,
    answered: metrics.answered,
    checkAnswers: options.checkAnswers ?? false,
  });
}

/** Opens every tenant of the store, then listens. */
export async function startServer(options: ServeOptions): Promise<Started> {
  const { settings, log } = options;
  const { data, database } = settings;
  // What is wrong with where messages go is said before anything is opened.
  deliverySettings({}, environment);
  const opened = await openStore({
    ...(data === undefined ? {} : { folder: data }),
    ...(database === undefined ? {} : { database }),
  });
  const store = lent(opened);
  const tenants = createTenants((tenant) => openOffice(options, store, tenant));
  const failed = (error: unknown) => log({ level: "error", message: "events", error: errorText(error) });
  const holds = { each: settings.holds, all: settings.allHolds };
  const desk = createDesk({ clock: wallClock, most: settings.listeners, holds, failed, ...options.desk });
  try {
    const server = await listen(options, store, tenants, desk);
    const close = async () => {
      await server.close();
      await opened.close();
    };
    return { ...server, close, office: (tenant = HOME) => tenants.of(tenant) };
  } catch (error) {
    desk.end();
    await tenants.close();
    await opened.close();
    throw error;
  }
}
