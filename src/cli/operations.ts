/**
 * Commands for operating Holdpoint: `serve` and `worker` (until Ctrl-C or SIGTERM), `key-file` and `views`.
 * Only `serve` and `worker` load the web framework.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createLog, type Log } from "../api/log.ts";
import type { TenantHostOptions } from "../api/open-tenant-host.ts";
import type { Settings } from "../api/settings.ts";
import { visible } from "../kernel/text.ts";
import { loginAddress } from "../people/rules/credential.ts";
import { currentPerson, databaseWithoutPassword, dataFolder } from "../runtime/settings.ts";
import type { StartedServer } from "../serve.ts";
import type { StartedWorker } from "../work.ts";
import { type Command, CommandError, type Context, EXIT, version, word } from "./shell/command.ts";
import { loadDefinitions } from "./shell/files.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const environment = (name: string): string | undefined => process.env[name];

/** Resolves at the first signal, or when `closed` aborts. A second signal ends the process at once. */
export function untilSignal(closed?: AbortSignal): { readonly signal: Promise<void>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  for (const name of SIGNALS) process.once(name, end);
  closed?.addEventListener("abort", end, { once: true });
  if (closed?.aborted === true) end();
  const stop = () => {
    for (const name of SIGNALS) process.removeListener(name, end);
  };
  return { signal: promise, stop };
}

const LINGER_MS = 1_000;
/** In addition to the time that requests and effects have to end. */
const CLOSING_MS = 10_000;

/** A database that does not answer would keep the process alive far longer than an operator waits. */
function endAnyway({ graceSeconds, drainSeconds }: Settings): void {
  const ms = (graceSeconds + drainSeconds) * 1_000 + CLOSING_MS;
  setTimeout(() => {
    process.stderr.write(
      `holdpoint: not everything could be closed within ${ms / 1_000} s; others go on as if this process had died.\n`,
    );
    process.exit(1);
  }, ms).unref();
}

/** Closes everything, then exits: a tool that did not end in time would keep the process alive for ever. */
async function closeForGood(close: () => Promise<void>, settings: Settings): Promise<void> {
  endAnyway(settings);
  try {
    await close();
  } finally {
    // Unreferenced: a process that nothing keeps alive exits earlier.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}

async function nodeSettings({ values }: Context): Promise<Settings> {
  const { readSettings } = await import("../api/settings.ts");
  const settings = readSettings({ flags: values, environment, isFile: existsSync });
  const { database, data } = settings;
  return database === undefined
    ? { ...settings, data: dataFolder(data, environment, process.cwd()) }
    : settings;
}

function logOf({ log }: Settings): Log {
  const form = log ?? (process.stderr.isTTY === true ? "text" : "json");
  return createLog(form, (text) => void process.stderr.write(text), Date.now);
}

async function nodeOptions(settings: Settings): Promise<TenantHostOptions & { settings: Settings }> {
  const { definitions } = settings;
  const base = { settings, version: version(), log: logOf(settings) };
  return definitions === undefined ? base : { ...base, define: await loadDefinitions(definitions) };
}

const shownStore = ({ database, data }: Settings): string =>
  database === undefined ? (data ?? "") : databaseWithoutPassword(database);

type ServerFacts = {
  readonly url: string;
  readonly login: string | null;
  /** Pending approval of the example. */
  readonly asked: string | null;
  readonly settings: Settings;
};

const pageOf = (approval: string): string => `/approvals/${approval}`;

function printServer({ terminal, json }: Context, { url, login, asked, settings }: ServerFacts): void {
  const { noAuth } = settings;
  const store = shownStore(settings);
  if (json) {
    terminal.json({ url, store, noAuth, login, example: asked });
    return;
  }
  terminal.line(`Holdpoint listens on ${url}`);
  terminal.line(`  open       ${url}/`);
  if (login !== null) terminal.line(`  log in     ${login}  (once, within ten minutes)`);
  else if (asked !== null) terminal.line(`  example    ${url}${pageOf(asked)}`);
  terminal.line(`  journal    ${store}`);
  terminal.line(`  reference  ${url}/docs`);
  if (noAuth)
    terminal.line(
      "  --no-auth  everybody on this machine may decide; every decision is marked unauthenticated",
    );
}

type Entry = Pick<StartedServer, "url" | "publicUrl" | "office"> & { readonly asked: string | null };

/** For the user who started the server; leads to the example's approval. Other people get links from that user. */
async function loginFor(
  { url, publicUrl, office, asked }: Entry,
  settings: Settings,
): Promise<string | null> {
  const { noAuth, firstAdmin } = settings;
  if (noAuth) return null;
  const { firstAdminLogin: firstLogin, namedFirstAdminLogin: firstLoginOf } = await import(
    "../people/verbs.ts"
  );
  const { runtime } = await office();
  const text =
    firstAdmin === undefined
      ? await firstLogin(runtime, currentPerson())
      : await firstLoginOf(runtime, firstAdmin);
  if (text === undefined) return null;
  return loginAddress(publicUrl ?? url, text, asked === null ? undefined : pageOf(asked));
}

async function serveUntilTold(context: Context): Promise<number> {
  const settings = await nodeSettings(context);
  const until = untilSignal();
  // Only this command needs the web framework; the others start without it.
  const { startServer } = await import("../serve.ts");
  const server = await startServer(await nodeOptions(settings));
  try {
    const asked = await server.asked();
    const login = await loginFor({ ...server, asked }, settings);
    printServer(context, { url: server.url, login, asked, settings });
    await until.signal;
    context.terminal.note("Stopping: requests under way may end.");
  } finally {
    until.stop();
    await closeForGood(server.close, settings);
  }
  return EXIT.ok;
}

export const serve: Command = {
  name: "serve",
  words: [],
  summary: "Run the server: the desk, REST and live events",
  details: [
    "Every flag has an environment variable; the reference of settings lists them, and limits that have no flag.",
    "--definitions names a file whose default export declares tools and workflows: export default (hp) => { … }. The server then runs them too.",
    "Log lines go to standard error, one a request.",
  ],
  examples: ["holdpoint serve --policy policy.yaml --definitions tools.ts"],
  onlyHere: "it is the server",
  flags: {
    host: { value: "<address>", summary: "the address it listens on; 127.0.0.1 unless set" },
    port: { value: "<n>", summary: "8000 unless set; 0 for any that is free" },
    policy: { value: "<file>", summary: "a policy's file, followed while the server runs" },
    definitions: {
      value: "<file>",
      summary: "a module that declares tools and workflows for the server to run",
    },
    example: {
      summary: "an agent of the server's own asks people something, once; only with a data folder",
    },
    agent: { value: "<name>", summary: "whom it runs them as, the same on every node; server unless set" },
    "allow-host": {
      value: "<name>",
      summary: "another name of this server, such as that of a proxy in front of it",
      repeatable: true,
    },
    "first-admin": {
      value: "<person>",
      summary:
        "the first admin of an empty store, who gets the login link; default: the user who starts the server",
    },
    "no-auth": { summary: "everybody may do everything; only on a loopback address" },
    "drain-seconds": { value: "<n>", summary: "how long effects get to end when it stops; 30 unless set" },
    log: { value: "<form>", summary: "json, text or off; text on a terminal, json elsewhere" },
  },
  storeless: true,
  tenantless: true,
  run: serveUntilTold,
};

async function printWorker(
  { terminal, json }: Context,
  working: StartedWorker,
  store: string,
): Promise<void> {
  const { url, tenants } = working;
  const names = (await tenants.open()).map(({ tenant }) => tenant);
  if (json) {
    terminal.json({ store, health: url, tenants: names });
    return;
  }
  terminal.line(`Holdpoint works on ${store}`);
  if (url !== null) terminal.line(`  health     ${url}/api/health, /api/ready and /metrics`);
}

async function workUntilTold(context: Context): Promise<number> {
  const settings = await nodeSettings(context);
  if (settings.definitions === undefined)
    throw new CommandError(
      "usage",
      "A worker needs definitions.",
      "Try: holdpoint worker --definitions <file>, whose default export declares tools and workflows.",
    );
  const until = untilSignal();
  const { startWorker } = await import("../work.ts");
  const working = await startWorker(await nodeOptions(settings));
  try {
    await printWorker(context, working, shownStore(settings));
    await until.signal;
    context.terminal.note("Stopping: what is under way may end, the rest is left to others.");
  } finally {
    until.stop();
    await closeForGood(working.close, settings);
  }
  return EXIT.ok;
}

export const worker: Command = {
  name: "worker",
  words: [],
  summary: "Run workflows and tools beside servers and other workers",
  details: [
    "Any number of workers and servers share one database; each workflow is run by one of them at a time, and by another one if that dies.",
    "On SIGTERM it takes nothing new, lets effects under way end, leaves its workflows to others and ends.",
    "Every flag has an environment variable; the reference of settings lists them.",
  ],
  examples: ["holdpoint worker --database postgres://… --definitions tools.ts"],
  onlyHere: "it works on a store",
  flags: {
    definitions: {
      value: "<file>",
      summary: "a module that declares tools and workflows: export default (hp) => { … }",
    },
    policy: { value: "<file>", summary: "a policy's file, followed while the worker runs" },
    agent: { value: "<name>", summary: "whom it runs them as, the same on every node; server unless set" },
    "health-port": { value: "<n>", summary: "where it says how it is; it does not listen unless set" },
    host: { value: "<address>", summary: "the address of that; 127.0.0.1 unless set" },
    "drain-seconds": { value: "<n>", summary: "how long effects get to end when it stops; 30 unless set" },
    log: { value: "<form>", summary: "json, text or off; text on a terminal, json elsewhere" },
  },
  storeless: true,
  tenantless: true,
  run: workUntilTold,
};

export const keyFileCommand: Command = {
  name: "key-file",
  words: ["<path>"],
  summary: "Create the key file that signs, shared by all nodes",
  details: [
    "One key seals a store for good, so every node needs the same file: HOLDPOINT_KEY_FILE says where it is. Keep it as you would a password, and apart from the journal.",
    "A file that is there is never replaced.",
  ],
  examples: ["holdpoint key-file /etc/holdpoint/key.json"],
  flags: {},
  storeless: true,
  placeless: true,
  async run({ terminal, json, words }) {
    const [{ makeKeyFile }, { pooledRandom }] = await Promise.all([
      import("../runtime/keyring.ts"),
      import("../runtime/runtime.ts"),
    ]);
    const path = resolve(word({ words }));
    const made = makeKeyFile(path, pooledRandom());
    if (!made.isNew)
      throw new CommandError(
        "file_error",
        `There is a file ${visible(path)} already, and it was left as it is.`,
        "Name another place, or use the one that is there: HOLDPOINT_KEY_FILE.",
      );
    if (json) terminal.json({ file: path, publicKey: made.publicJwk });
    else {
      terminal.line(`Made ${visible(path)}, readable for you alone.`);
      terminal.line("Give all nodes this file (HOLDPOINT_KEY_FILE), and keep a copy apart from the journal.");
    }
    return EXIT.ok;
  },
};

export const views: Command = {
  name: "views",
  words: ["rebuild"],
  summary: "Rebuild the lists from the journal",
  details: ["Lists are only a view; the journal is never changed by this."],
  examples: ["holdpoint views rebuild"],
  onlyHere: "it is an operation of the store",
  flags: {},
  async run(context) {
    const { hp, terminal } = context;
    const { streams, left } = await hp.journal.rebuildViews((done, total) =>
      terminal.progress(`${done} of ${total} streams …`),
    );
    terminal.progress(null);
    if (context.json) terminal.json({ streams, left });
    else terminal.line(`Rebuilt the views of ${streams - left} streams.`);
    if (!context.json && left > 0)
      terminal.line(`${left} were left as they were: their events are newer, or their bodies were erased.`);
    return EXIT.ok;
  },
};
