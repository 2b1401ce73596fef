/** `holdpoint serve`: the server, until Ctrl-C or SIGTERM. */

import type { Settings } from "../api/settings.ts";
import { loginAddress } from "../people/rules/credential.ts";
import { currentPerson } from "../runtime/settings.ts";
import type { Started } from "../serve.ts";
import { type Command, type Context, EXIT } from "./command.ts";
import { closeForGood, nodeOptions, nodeSettings, shownStore, untilTold } from "./node-process.ts";

type Place = {
  readonly url: string;
  readonly login: string | null;
  /** The approval of the example that waits. */
  readonly asked: string | null;
  readonly settings: Settings;
};

const pageOf = (approval: string): string => `/approvals/${approval}`;

function printPlace({ terminal, json }: Context, { url, login, asked, settings }: Place): void {
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

type Entry = Pick<Started, "url" | "publicUrl" | "office"> & { readonly asked: string | null };

/** For whoever started it, and leads to what the example asks; others ask them for a link of their own. */
async function loginFor(
  { url, publicUrl, office, asked }: Entry,
  settings: Settings,
): Promise<string | null> {
  const { noAuth, firstAdmin } = settings;
  if (noAuth) return null;
  const { firstAdminLogin: firstLogin, namedFirstAdminLogin: firstLoginOf } = await import(
    "../people/methods.ts"
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
  const until = untilTold();
  // Only this command needs the web framework, and the others start without it.
  const { startServer } = await import("../serve.ts");
  const server = await startServer(await nodeOptions(settings));
  try {
    const asked = await server.asked();
    const login = await loginFor({ ...server, asked }, settings);
    printPlace(context, { url: server.url, login, asked, settings });
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
  summary: "the server: the desk, REST, live events and the reference page, until Ctrl-C",
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
      summary: "the first admin of an empty store, who is given the login link; whoever starts it unless set",
    },
    "no-auth": { summary: "everybody may do everything; only on a loopback address" },
    "drain-seconds": { value: "<n>", summary: "how long effects get to end when it stops; 30 unless set" },
    log: { value: "<form>", summary: "json, text or off; text on a terminal, json elsewhere" },
  },
  storeless: true,
  tenantless: true,
  run: serveUntilTold,
};
