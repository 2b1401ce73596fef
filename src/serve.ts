/** The server put together with a store: the second door, which only `holdpoint serve` and tests go through. */
import { randomUUID } from "node:crypto";
import { errorText } from "./core/error-text.ts";
import { wallClock } from "./engine/clock.ts";
import { type Holdpoint, holdpoint } from "./index.ts";
import { insides, openStore } from "./open.ts";
import { everybody } from "./server/authenticate.ts";
import { createDesk } from "./server/events/desk.ts";
import type { Log } from "./server/log.ts";
import { allRoutes } from "./server/routes.ts";
import { type Server, serve } from "./server/serve.ts";
import type { Settings } from "./server/settings.ts";
import { createTenants, type Office } from "./server/tenants.ts";
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

/** Instances close their store with themselves; this one is shared. */
const lent = (store: Store): Store => ({ ...store, close: async () => undefined });

async function openOffice(options: ServeOptions, store: Store, tenant: string): Promise<Office> {
  const { settings, define, keyFile, log } = options;
  const hp = holdpoint({
    store: lent(store),
    tenant,
    agent: "server",
    notify: (notice) => log({ level: "info", message: "notice", tenant, notice: notice.kind }),
    ...(settings.policy === undefined ? {} : { policy: settings.policy }),
    ...(keyFile === undefined ? {} : { keyFile }),
  });
  await define?.(hp);
  const inside = insides.get(hp);
  if (inside === undefined) throw new TypeError("an instance without an inside");
  const { runtime, dispatcher } = await inside.open();
  const wake = () => {
    if (inside.known.size > 0) dispatcher.work();
  };
  wake();
  return { tenant, runtime, wake, close: () => hp.close() };
}

/** Opens every tenant of the store at once: deadlines are announced and effects recovered whether somebody asks or not. */
export async function startServer(options: ServeOptions): Promise<Server & { readonly store: Store }> {
  const { settings, version, log } = options;
  const { data, database } = settings;
  const store = await openStore({
    ...(data === undefined ? {} : { folder: data }),
    ...(database === undefined ? {} : { database }),
  });
  const failed = (error: unknown) => log({ level: "error", message: "events", error: errorText(error) });
  const tenants = createTenants((tenant) => openOffice(options, store, tenant));
  try {
    const ready = async () => void (await store.position());
    const desk = createDesk({ clock: wallClock, most: settings.listeners, failed, ...options.desk });
    const server = await serve({
      routes: allRoutes({ condition: { version, ready }, desk }),
      endStreams: desk.end,
      tenants,
      authenticate: settings.noAuth ? everybody : async () => undefined,
      settings,
      clock: wallClock,
      log,
      makeId: randomUUID,
      checkAnswers: options.checkAnswers ?? false,
    });
    for (const tenant of new Set(["default", ...(await store.tenants())])) await tenants.of(tenant);
    const close = async () => {
      await server.close();
      await store.close();
    };
    return { ...server, store, close };
  } catch (error) {
    await tenants.close();
    await store.close();
    throw error;
  }
}
