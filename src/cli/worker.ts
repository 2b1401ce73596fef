/** `holdpoint worker`: runs the workflows and tools of a file, until Ctrl-C or SIGTERM. */
import type { Working } from "../work.ts";
import { type Command, type Context, EXIT } from "./command.ts";
import { CommandError } from "./failure.ts";
import { closeForGood, nodeOptions, nodeSettings, shownStore, untilTold } from "./node-process.ts";

async function printPlace({ terminal, json }: Context, working: Working, store: string): Promise<void> {
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
  const until = untilTold();
  const { startWorker } = await import("../work.ts");
  const working = await startWorker(await nodeOptions(settings));
  try {
    await printPlace(context, working, shownStore(settings));
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
  summary: "runs workflows and tools, beside servers and other workers, until Ctrl-C",
  details: [
    "Any number of workers and servers share one database; each workflow is run by one of them at a time, and by another one if that dies.",
    "On SIGTERM it takes nothing new, lets effects under way end, leaves its workflows to others and ends.",
    "Every flag has an environment variable; the reference of settings lists them.",
  ],
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
