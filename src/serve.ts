/** The server put together with a store: the second door, which only `holdpoint serve` and tests go through. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { CardParts } from "./approvals/routes.ts";
import { cardLines } from "./cli/approvals/card.ts";
import { example } from "./example/asking.ts";
import { defineExample } from "./example/refund.ts";
import { wallClock } from "./kernel/clock.ts";
import { errorText } from "./kernel/text.ts";
import { deliverySettings } from "./notify/settings.ts";
import { keepOpening, type OfficeOptions, openAll, openOffice, openShared } from "./office.ts";
import { environment, random } from "./open.ts";
import { HOME_TENANT } from "./people/tenants/stream.ts";
import { runAll } from "./runtime/concurrency.ts";
import { dataFolder } from "./runtime/settings.ts";
import { byCredential, everybody } from "./server/authenticate.ts";
import { type Audience, createAudience } from "./server/events/audience.ts";
import type { OutflowLimits } from "./server/guards/outflow.ts";
import { createMetrics } from "./server/metrics/metrics.ts";
import { watchJournal } from "./server/metrics/watch-journal.ts";
import { openDesk } from "./server/pages/desk.ts";
import { allRoutes } from "./server/routes.ts";
import { type Server, serve } from "./server/serve.ts";
import type { Settings } from "./server/settings.ts";
import { createTenants, type Office, type Tenants } from "./server/tenants.ts";
import { inHandOf, totalsOf } from "./server/totals.ts";
import type { Store } from "./stores/store.ts";

export type ServeOptions = OfficeOptions & {
  readonly settings: Settings;
  readonly checkAnswers?: boolean;
  readonly audience?: { readonly beatMs: number };
  readonly outflow?: OutflowLimits;
};

/** Beside `src/` and beside `dist/` alike. */
const DESK = fileURLToPath(new URL("../dashboard/dist/", import.meta.url));
const EXAMPLE_POLICY = fileURLToPath(new URL("../examples/desk/policy.yaml", import.meta.url));
const EXAMPLE_FILE = "example-refunds.log";
const FIRST_WITHIN_MS = 5_000;

export type Started = Server & {
  /** Where people's pages are, if that is said (`HOLDPOINT_PUBLIC_URL`). */
  readonly publicUrl: string | null;
  office(tenant?: string): Promise<Office>;
  /** The approval of the example that waits, where there is one. */
  asked(): Promise<string | null>;
};

/** What the server runs and judges by, with the example beside it where that is wanted. */
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

/** A server without its first question is a server all the same. */
async function beginExample({ settings, log }: ServeOptions, office: Office): Promise<void> {
  if (!settings.example) return;
  const failed = (error: unknown) => log({ level: "warn", message: "example", error: errorText(error) });
  await example.askFirst(office, FIRST_WITHIN_MS).catch(failed);
}

/** Commands on a page name this server where its address is known to people. */
function cardParts(): CardParts {
  const { publicUrl } = deliverySettings({}, environment);
  return { render: cardLines, where: publicUrl === null ? "" : ` --server ${publicUrl}` };
}

async function listen(
  options: ServeOptions,
  store: Store,
  tenants: Tenants,
  audience: Audience,
): Promise<Server> {
  const { settings, version, log } = options;
  const metrics = createMetrics({
    ...{ ...totalsOf(tenants), listeners: audience.size, holds: audience.holds.size },
    node: { kind: "server", version, inHand: (whose) => inHandOf(tenants, whose) },
  });
  const failed = (error: unknown) => log({ level: "error", message: "metrics", error: errorText(error) });
  tenants.opened((office) =>
    watchJournal(office.runtime, audience.hubOf(office), { tally: metrics.of(office.tenant), log, failed }),
  );
  tenants.left(audience.leave);
  // Whatever is wrong with policy and definitions is said before anybody is listened to.
  await openAll(store, tenants);
  const condition = { version, ready: async () => void (await store.position()) };
  const hands = { store, clock: wallClock, random };
  const pages = openDesk(DESK);
  return serve({
    routes: allRoutes({
      ...{ condition, audience, hands, metrics, cards: cardParts(), pages },
      example: settings.example ? example : undefined,
    }),
    endStreams: audience.end,
    tenants,
    authenticate: settings.noAuth ? everybody : byCredential({ store, clock: wallClock }),
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
export async function startServer(given: ServeOptions): Promise<Started> {
  const options = withExample(given);
  const { settings, log } = options;
  // What is wrong with where messages go is said before anything is opened.
  const { publicUrl } = deliverySettings({}, environment);
  const shared = await openShared(settings);
  const { store } = shared;
  const tenants = createTenants((tenant) => openOffice(options, { store, tenant, kind: "server" }));
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
    opening = keepOpening(store, tenants, { log, over: over.signal });
    const office = (tenant = HOME_TENANT) => tenants.of(tenant);
    await beginExample(options, await office());
    const asked = async () =>
      settings.example ? (await example.standing((await office()).runtime)).approval : null;
    return { ...server, publicUrl, close, office, asked };
  } catch (error) {
    // Whatever else goes wrong now, this is why it does not start.
    await close().catch(() => undefined);
    throw error;
  }
}
