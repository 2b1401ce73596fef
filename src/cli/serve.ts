/** `holdpoint serve`: the server, until Ctrl-C or SIGTERM. */
import { existsSync } from "node:fs";
import { loginAddress } from "../core/session/login-address.ts";
import { dataFolder, personHere, shownDatabase } from "../engine/settings.ts";
import type { ServeOptions, Started } from "../serve.ts";
import { createLog, type Log } from "../server/log.ts";
import type { Settings } from "../server/settings.ts";
import { type Command, type Context, EXIT } from "./command.ts";
import { loadDefinitions } from "./load-definitions.ts";
import { version } from "./version.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const environment = (name: string): string | undefined => process.env[name];

/** The first signal, or nobody reads what is printed: a second one ends the process at once. */
function told(): { readonly signal: Promise<void>; stop(): void } {
  let resolve: () => void = () => undefined;
  const signal = new Promise<void>((done) => {
    resolve = done;
  });
  for (const name of SIGNALS) process.once(name, resolve);
  const stop = () => {
    for (const name of SIGNALS) process.removeListener(name, resolve);
  };
  return { signal, stop };
}

function placed(settings: Settings): Settings {
  const { database, data } = settings;
  return database === undefined
    ? { ...settings, data: dataFolder(data, environment, process.cwd()) }
    : settings;
}

function logOf({ log }: Settings): Log {
  const form = log ?? (process.stderr.isTTY === true ? "text" : "json");
  return createLog(form, (text) => void process.stderr.write(text), Date.now);
}

async function optionsOf(settings: Settings): Promise<ServeOptions> {
  const { definitions } = settings;
  const log = logOf(settings);
  const base = { settings, version: version(), log };
  return definitions === undefined ? base : { ...base, define: await loadDefinitions(definitions) };
}

type Place = { readonly url: string; readonly login: string | null; readonly settings: Settings };

function printPlace({ terminal, json }: Context, { url, login, settings }: Place): void {
  const { database, data, noAuth } = settings;
  const store = database === undefined ? (data ?? "") : shownDatabase(database);
  if (json) {
    terminal.json({ url, store, noAuth, login });
    return;
  }
  terminal.line(`Holdpoint listens on ${url}`);
  terminal.line(`  journal    ${store}`);
  terminal.line(`  reference  ${url}/docs`);
  if (login !== null) terminal.line(`  log in     ${login}  (once, within ten minutes)`);
  if (noAuth)
    terminal.line(
      "  --no-auth  everybody on this machine may decide; every decision is marked unauthenticated",
    );
}

/** For whoever started it; others ask them for a link of their own. */
async function loginFor({ url, office }: Started, { noAuth }: Settings): Promise<string | null> {
  const { firstLogin } = await import("../server/first-login.ts");
  const text = noAuth ? undefined : await firstLogin((await office()).runtime, personHere());
  return text === undefined ? null : loginAddress(url, text);
}

async function serveUntilTold(context: Context): Promise<number> {
  const { readSettings } = await import("../server/settings.ts");
  const settings = placed(readSettings({ flags: context.values, environment, isFile: existsSync }));
  const until = told();
  // Only this command needs the web framework, and the others start without it.
  const { startServer } = await import("../serve.ts");
  const server = await startServer(await optionsOf(settings));
  try {
    printPlace(context, { url: server.url, login: await loginFor(server, settings), settings });
    await until.signal;
    context.terminal.note("Stopping: requests under way may end.");
  } finally {
    until.stop();
    await server.close();
  }
  return EXIT.ok;
}

export const serve: Command = {
  name: "serve",
  words: [],
  summary: "the server: REST, live events and the reference page, until Ctrl-C",
  details: [
    "Every flag has an environment variable; the reference of settings lists them, and limits that have no flag.",
    "--definitions names a file whose default export declares tools and workflows: export default (hp) => { … }. The server then runs them too.",
    "Log lines go to standard error, one a request.",
  ],
  onlyHere: "it is the server",
  flags: {
    host: { value: "<address>", summary: "the address it listens on; 127.0.0.1 unless set" },
    port: { value: "<n>", summary: "8000 unless set; 0 for any that is free" },
    policy: { value: "<file>", summary: "a policy's file, followed while the server runs" },
    definitions: {
      value: "<file>",
      summary: "a module that declares tools and workflows for the server to run",
    },
    "allow-host": {
      value: "<name>",
      summary: "another name of this server, such as that of a proxy in front of it",
      repeatable: true,
    },
    "no-auth": { summary: "everybody may do everything; only on a loopback address" },
    log: { value: "<form>", summary: "json, text or off; text on a terminal, json elsewhere" },
  },
  storeless: true,
  tenantless: true,
  run: serveUntilTold,
};
