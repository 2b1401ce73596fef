// What each command prints: its help, and its answers about a tenant that has one of everything.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { holdpoint } from "../../src/index.ts";
import { HOME_TENANT } from "../../src/people/tenants/stream.ts";
import { environment, type Ran } from "../cli/bench.ts";
import { hosted } from "../cli/hosted.ts";
import { OWN } from "../http/site.ts";
import type { World } from "../http/world.ts";
import { furnishedSite, NOW } from "./furnished.ts";
import { type Names, normalise } from "./normalise.ts";
import { comparePin } from "./pin.ts";
import { collectVectors } from "./vectors.ts";

const COLUMNS = 120;
/** Wide enough that no id is broken over two lines. */
const WIDE = 500;
/** When the first line runs, and how much later each further one that acts: ages stay far from the next minute. */
const LATER_MS = 1_820_000;
const STEP_MS = 250;

type Shell = {
  readonly folder: string;
  readonly names: Names;
  /** In a terminal where there are columns, else in a pipe. */
  run(args: readonly string[], columns?: number): Promise<Ran>;
  /** The next line runs a little later. */
  wait(): void;
};

function openShell(folder: string, names: Names): Shell {
  const place = { path: join(folder, "data"), keyFile: join(folder, "key.json") };
  const own = { HOLDPOINT_PERSON: "root", HOLDPOINT_SERVER: "", HOLDPOINT_DATABASE: "", NO_COLOR: "1" };
  const env = { ...environment(place), ...own, XDG_CONFIG_HOME: folder, HOME: folder };
  let now = NOW + LATER_MS;
  return {
    folder,
    names: { ...names, [folder]: "<folder>" },
    run: (args, columns) =>
      hosted({ args, cwd: folder, env, now, ...(columns === undefined ? {} : { columns }) }),
    wait() {
      now += STEP_MS;
    },
  };
}

/** In the furnished tenant, where the command is about a tenant. */
function inTenant(args: readonly string[]): readonly string[] {
  const line = args.join(" ");
  const command = COMMANDS.find(({ name }) => line === name || line.startsWith(`${name} `));
  // Tenants are looked after from the home tenant.
  const isOfNone =
    command === undefined ||
    command.name === "tenants" ||
    command.placeless === true ||
    command.tenantless === true;
  return isOfNone ? args : [...args, "--tenant", OWN];
}

const quoted = (arg: string): string => (/^[\w@:/.=<>*-]+$/.test(arg) ? arg : `'${arg}'`);

function printed({ names }: Shell, title: string, { code, out, err }: Ran): string {
  const complaint = err === "" ? "" : `standard error:\n${err}`;
  return normalise(`== ${title}\n${out}${complaint}exit ${code}\n`, names);
}

/** In a terminal, in a pipe, and as JSON. */
async function threeForms(shell: Shell, args: readonly string[]): Promise<string> {
  const line = args.map(quoted).join(" ");
  const columns = args[0] === "journal" ? WIDE : COLUMNS;
  const forms = await Promise.all([
    shell.run(inTenant(args), columns).then((ran) => printed(shell, `holdpoint ${line} (terminal)`, ran)),
    shell.run(inTenant(args)).then((ran) => printed(shell, `holdpoint ${line} (pipe)`, ran)),
    shell.run([...inTenant(args), "--json"]).then((ran) => printed(shell, `holdpoint ${line} --json`, ran)),
  ]);
  return forms.join("");
}

/** One after the other: each changes what the next one finds. */
async function inTurn(shell: Shell, lines: readonly (readonly string[])[]): Promise<string> {
  let text = "";
  for (const args of lines) {
    shell.wait();
    text += printed(
      shell,
      `holdpoint ${args.map(quoted).join(" ")}`,
      await shell.run(inTenant(args), COLUMNS),
    );
  }
  return text;
}

const BECAUSE = ["--reason", "a pin"];

function readings(world: World): readonly (readonly string[])[] {
  const { approval, workflow, driven, action, permitted, grant, alert } = world;
  return [
    ["welcome"],
    ["nodes"],
    ["nodes", "--all"],
    ["approvals"],
    ["approvals", "--status", "any", "--limit", "1"],
    ["workflows"],
    ["workflows", "--status", "awaiting_approval"],
    ["alerts"],
    ["notifications", "dead"],
    ["endpoints"],
    ...[approval, workflow, driven, action, permitted, grant, alert].map((id) => ["show", id]),
    ["show", "act_00000000000000000000000000"],
    ["grants"],
    ["grants", "show", grant],
    ["budgets"],
    ["intents"],
    ["intents", "get", world.intent],
    ["journal", approval],
    ["journal", action],
    ["in-doubt"],
    ["policy", "check", "policy.yaml"],
    ["policy", "check", "wrong.yaml"],
    ["policy", "test", "policy.yaml"],
    ["policy", "explain", action, "--policy", "policy.yaml"],
    ["policy", "list"],
    ["policy", "show", world.policy],
    ["policy", "backtest", "policy.yaml"],
    ["policy", "suggest"],
    ["receipt", action],
    ["restored"],
    ["people"],
    ["keys", "--all"],
    ["tenants"],
    ["whoami"],
  ];
}

function decisions({ approval, workflow, driven, effect, alert, message }: World) {
  return [
    ["comment", approval, "Is the word right?"],
    ["extend", approval, "2h"],
    ["delegate", approval, "person:heron-7f3a", ...BECAUSE],
    ["take-back", approval, ...BECAUSE],
    ["approve", approval, "--note", "seen"],
    ["approve", approval, "--json"],
    ["show", approval],
    ["revoke", approval, ...BECAUSE],
    ["cancel", approval, ...BECAUSE],
    ["reject", approval, ...BECAUSE, "--json"],
    ["answer", approval, "7000"],
    ["rollback", workflow, ...BECAUSE],
    ["fork", workflow, "--at", "look"],
    ["cancel", workflow, ...BECAUSE, "--json"],
    ["show", workflow],
    ["cancel", driven, ...BECAUSE],
    ["start", "flow", "--input", '{"n": 1}', "--request-id", "pin"],
    ["resolve", effect, "applied", ...BECAUSE],
    ["resolve", effect, "not_applied", ...BECAUSE],
    ["alerts", "ack", alert, "--note", "seen"],
    ["notifications", "retry", message],
    ["pause", ...BECAUSE],
    ["pause", "--agent", "far", ...BECAUSE, "--json"],
    ["welcome"],
    ["resume", ...BECAUSE],
    ["views", "rebuild"],
    ["scenarios", "apply", "scenario.json"],
    ["export", "--out", "journal.ndjson"],
    ["seal", "--out", "seal.json"],
    ["verify", "--seal", "seal.json"],
    ["key-file", "other.json"],
    ["init", "project"],
    ["approve"],
    ["approve", "apr_00000000000000000000000000"],
    ["approve", "apr_00000000000000000000000000", "--json"],
    ["unknown"],
    ["approvals", "--unknown"],
  ];
}

function administration({ key, endpoint, grant, intent }: World) {
  return [
    ["grants", "give", "--tool", "pay", "--uses", "3", "--for", "7d", ...BECAUSE],
    ["grants", "revoke", grant, ...BECAUSE],
    ["intents", "send", "--type", "task", "--to", "agent://doer", "--payload", '{"task": "count"}'],
    ["intents", "cancel", intent, ...BECAUSE],
    ["intents", "answer", intent, "--result", '{"done": true}'],
    ["people", "add", "fay", "--role", "auditor", "--group", "legal", "--mail", "fay@example.com"],
    ["people", "change", "fay", "--role", "supervisor", "--json"],
    ["people", "suspend", "fay", ...BECAUSE],
    ["people", "reinstate", "fay", ...BECAUSE],
    ["people", "remove", "fay", ...BECAUSE],
    ["keys", "issue", "agent:mailer", "--name", "web-1", "--role", "executor", "--for", "90d"],
    ["keys", "rotate", key, "--json"],
    ["keys", "revoke", key, ...BECAUSE],
    ["login-link", "root"],
    ["tenants", "add", "initech", "--admin", "gus"],
    ["tenants", "close", "initech", ...BECAUSE],
    ["endpoints", "add", "--url", "https://hooks.example/holdpoint", "--event", "approval.*"],
    ["endpoints", "change", endpoint, "--name", "renamed"],
    ["endpoints", "rotate", endpoint, "--json"],
    ["endpoints", "off", endpoint, ...BECAUSE],
    ["endpoints", "on", endpoint],
    ["endpoints", "remove", endpoint, ...BECAUSE],
  ];
}

const FILES = {
  "policy.yaml": `policy: tried
default: escalate
rules:
  - id: done_by_itself
    tool: done
    verdict: approve
    reason: it is harmless
`,
  "policy.test.yaml": `cases:
  - name: done needs no approval
    when: { tool: done, args: { word: example } }
    then: { verdict: approve, rule: done_by_itself }
  - name: this one fails
    when: { tool: pay, args: { word: example } }
    then: { verdict: approve }
`,
  "wrong.yaml": "policy: wrong\nrules:\n  - tool: done\n    when: args.word ==\n    verdict: maybe\n",
  "scenario.json": JSON.stringify({
    name: "count",
    agents: [{ name: "counter" }],
    approvers: [{ name: "ann" }],
    intent: {
      intent_type: "task",
      to_agent: "agent://counter",
      payload: { task: "Count" },
      request_id: "count",
    },
  }),
};

test("the help of every command is as pinned", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-pins-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const shell = openShell(folder, {});
  const names = ["", "policy", "scenarios", ...COMMANDS.map(({ name }) => name)];
  const helps = names.map(async (name) => {
    const args = [...name.split(" ").filter((word) => word !== ""), "--help"];
    return printed(shell, `holdpoint ${args.join(" ")}`, await shell.run(args, COLUMNS));
  });
  comparePin("cli/help.txt", (await Promise.all(helps)).join(""));
});

test("on a furnished store", async (t) => {
  const { site, names } = await furnishedSite(t);
  const { folder, world } = site;
  // A server that goes on would act on what the commands decide.
  await site.bench.close();
  const shell = openShell(folder, names);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);

  await t.test("every command that shows something prints it as pinned, in its three forms", async () => {
    const blocks = await Promise.all(readings(world).map((args) => threeForms(shell, args)));
    comparePin("cli/show.txt", blocks.join(""));
  });

  await t.test("every command that acts prints what it did as pinned", async () => {
    comparePin("cli/act.txt", await inTurn(shell, [...decisions(world), ...administration(world)]));
  });

  await t.test("the entries have the pinned bytes and hashes", async () => {
    const vectors = collectVectors(shell.names);
    for (const tenant of [OWN, HOME_TENANT]) {
      const hp = holdpoint({ folder: join(folder, "data"), keyFile: join(folder, "key.json"), tenant });
      for await (const text of hp.journal.export()) {
        const { entry } = JSON.parse(text) as { entry?: { header: string; body: string | null } };
        if (entry !== undefined) vectors.add({ header: entry.header, body: entry.body ?? "null" });
      }
      await hp.close();
    }
    comparePin("journal/cli.txt", vectors.text());
  });
});
