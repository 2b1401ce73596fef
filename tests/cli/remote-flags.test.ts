// Every flag of every command that works at a server reaches it, or is refused by name: none counts for nothing in silence.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { remoteHoldpoint } from "../../src/cli/remote/remote.ts";
import type { Command, Context, Values } from "../../src/cli/shell/command.ts";
import type { Terminal } from "../../src/cli/shell/terminal.ts";

import { createClient } from "../../src/client/client.ts";
import type { Holdpoint, Workflow } from "../../src/index.ts";
import { serverBench } from "../fixtures/server.ts";
import { CANARY, define, furnish, type World } from "../http/world.ts";

type Stage = World & { readonly question: string; readonly checkpoint: string; readonly files: string };
type Flags = { readonly [flag: string]: string | true };
/** A line of words and flags that goes through; `tries`: each flag, one at a time, on top of it or in place of one of it. */
type Case = {
  readonly words?: readonly string[];
  readonly base?: Flags;
  readonly tries: Flags;
};

const REASON: Flags = { reason: "look" };
const reason = { ...REASON, tries: { reason: "another" } };

/** The flags that are about what this terminal shows, or read a file here: they need not go anywhere. */
const HERE: { readonly [command: string]: readonly string[] } = {
  alerts: ["all", "full"],
  approve: ["full", "confirm"],
  endpoints: ["all"],
  grants: ["full"],
  intents: ["full"],
  journal: ["full"],
  keys: ["all"],
  "login-link": ["url"],
  "policy check": ["tools"],
  "policy explain": ["policy", "now", "tools"],
  show: ["full"],
  // Asked until it has ended: `tests/fleet/start.test.ts` sees it at a server.
  start: ["wait"],
  tenants: ["url"],
  // Followed until somebody ends it: `watch.test.ts` and `remote.test.ts` see it at a server.
  approvals: ["watch"],
};

function casesOf(stage: Stage): { readonly [command: string]: readonly Case[] } {
  const { approval, question, checkpoint, workflow, action, effect, files } = stage;
  const give = { tool: "done", uses: "1", for: "1h", ...REASON };
  const send = { type: "task", to: "agent://doer" };
  const issue = { name: "n", role: "executor" };
  return {
    approvals: [{ tries: { status: "rejected", all: true, mine: true, limit: "7", order: "deadline" } }],
    nodes: [{ tries: { all: true, limit: "7" } }],
    budgets: [{ tries: { limit: "7" } }],
    start: [
      {
        words: ["errand"],
        tries: { input: "[1]", "request-id": "r", budget: "trip", "require-approval": true },
      },
    ],
    workflows: [{ tries: { status: "failed", limit: "7" } }],
    alerts: [{ tries: { limit: "7" } }, { words: ["ack", stage.alert], tries: { note: "seen" } }],
    notifications: [{ tries: { status: "dead", limit: "7" } }],
    endpoints: [
      {
        words: ["add"],
        base: { url: "https://a.example/", event: "approval.*", name: "a", owner: "service:a" },
        tries: { url: "https://b.example/", event: "switch.*", name: "b", owner: "service:b", kind: "teams" },
      },
      { words: ["add"], base: { to: "a@example.com" }, tries: { to: "b@example.com" } },
      { words: ["rotate", stage.endpoint], tries: { overlap: "2h" } },
      { words: ["off", stage.endpoint], ...reason },
    ],
    show: [{ words: [workflow], tries: { at: "1", checkpoint: "look" } }],
    approve: [
      { words: [approval], tries: { note: "fine", edit: '{"word":"x"}', binding: "000000000000" } },
      { base: { confirm: "1" }, tries: { "all-of": "pay" } },
    ],
    reject: [{ words: [checkpoint], base: REASON, tries: { reason: "no", final: true } }],
    answer: [{ words: [question, "1"], tries: { note: "fine", binding: "000000000000" } }],
    comment: [{ words: [approval, "why?"], tries: { category: "concern" } }],
    cancel: [{ words: [approval], base: REASON, tries: { reason: "another" } }],
    revoke: [{ words: [approval], base: REASON, tries: { reason: "another" } }],
    delegate: [{ words: [approval, "person:bob"], base: REASON, tries: { reason: "another" } }],
    "take-back": [{ words: [approval], base: REASON, tries: { reason: "another" } }],
    grants: [
      {
        words: ["give"],
        base: { ...give, total: "5 USD", amount: "args.n" },
        tries: {
          ...{ tool: "pay", uses: "2", for: "2h", reason: "another", total: "6 USD", amount: "args.m" },
          ...{ when: "args.n < 1", agent: "mailer" },
        },
      },
      { tries: { all: true, limit: "7", tool: "pay" } },
    ],
    intents: [
      { tries: { status: "completed", to: "agent:a", from: "agent:b", limit: "7" } },
      {
        words: ["send"],
        base: send,
        tries: { type: "other", to: "agent://b", payload: "[1]", "request-id": "r", within: "7d" },
      },
      { words: ["answer", stage.intent], tries: { result: "[1]", failed: "broken" } },
      { words: ["cancel", stage.intent], ...reason },
    ],
    rollback: [{ words: [workflow], base: REASON, tries: { reason: "x", to: "start", fail: true } }],
    resolve: [{ words: [effect, "applied"], base: REASON, tries: { reason: "another" } }],
    pause: [{ base: REASON, tries: { reason: "another", agent: "mailer", workflow } }],
    resume: [{ base: REASON, tries: { reason: "another", agent: "mailer", workflow } }],
    receipt: [{ words: [action], tries: { signed: true } }],
    verify: [{ tries: { "require-sealed": true, seal: join(files, "seal"), key: join(files, "key") } }],
    people: [
      {
        words: ["add", "zoe"],
        base: { role: "auditor", group: "a" },
        tries: { name: "Zoe", mail: "zoe@example.com", role: "admin", group: "b" },
      },
      { words: ["suspend", "zoe"], ...reason },
    ],
    keys: [
      {
        words: ["issue", "agent:a"],
        base: issue,
        tries: { name: "m", role: "poster", scope: "actions:read", for: "90d" },
      },
      { words: ["rotate", stage.key], tries: { overlap: "2h", for: "90d" } },
      { words: ["revoke", stage.key], ...reason },
      { tries: { of: "agent:a", limit: "7" } },
    ],
    tenants: [
      { words: ["add", "acme"], base: { admin: "zoe" }, tries: { admin: "eve", for: "30m" } },
      { words: ["close", "acme"], ...reason },
    ],
    "login-link": [{ words: [CANARY], tries: { for: "30m" } }],
  };
}

const paper: Terminal = {
  interactive: false,
  columns: 80,
  line: () => undefined,
  json: () => undefined,
  write: async () => undefined,
  note: () => undefined,
  progress: () => undefined,
  paint: (_style, text) => text,
  strange: (text) => text,
  closed: new AbortController().signal,
  fault: () => undefined,
};

const valuesOf = (flags: Flags): Values =>
  new Map(Object.entries(flags).map(([name, value]) => [name, [value === true ? "" : value]]));

type Ran = { readonly sent: readonly string[]; readonly said: string };
type Run = (command: Command, words: readonly string[], flags: Flags) => Promise<Ran>;

/** What is read is answered; what would change something is heard and refused, so that every try finds the same. */
function runnerAt(url: string): Run {
  return async (command, words, flags) => {
    const sent: string[] = [];
    const heard: typeof fetch = async (input, init) => {
      const [method, body] = [init?.method ?? "GET", init?.body];
      sent.push(`${method} ${String(input)} ${typeof body === "string" ? body : ""}`);
      if (method === "GET") return fetch(input, init);
      const problem = { code: "wrong_state", detail: "heard", status: 409, title: "Wrong state" };
      const headers = { "content-type": "application/problem+json" };
      return new Response(JSON.stringify(problem), { status: 409, headers });
    };
    const hp = remoteHoldpoint({ client: createClient({ server: url, fetch: heard }), principal: null });
    const shown = { json: false, full: "full" in flags, folder: url, hasStore: true, hp };
    const place = { terminal: paper, values: valuesOf(flags), words, person: "person:root", now: Date.now() };
    const context: Context = { ...shown, ...place };
    const said = await command.run(context).then(String, (error: Error) => error.message);
    return { sent, said };
  };
}

async function askedAbout(hp: Holdpoint, subject: string): Promise<string> {
  for (let look = 0; look < 500; look++) {
    const found = (await hp.approvals.list()).items.find(({ about }) => about === subject);
    if (found !== undefined) return found.id;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail(`no ${subject}`);
}

async function stageOf(t: TestContext): Promise<{ readonly url: string; readonly stage: Stage }> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-flags-"));
  let hp: Holdpoint | undefined;
  let declared: ReturnType<typeof define> | undefined;
  let asks: Workflow<object, unknown> | undefined;
  const bench = await serverBench(t, {
    ...{ folder, rate: 1_000_000, burst: 1_000_000 },
    define(own) {
      hp = own;
      declared = define(own);
      asks = own.workflow("asks", async (ctx, _: object) => ctx.ask("how-many", "How many?"));
    },
  });
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.ok(hp !== undefined && declared !== undefined && asks !== undefined);
  const world = await furnish(hp, declared, { folder, tenant: "default" });
  await asks.start({});
  const [question, checkpoint] = [await askedAbout(hp, "question"), await askedAbout(hp, "checkpoint")];
  const seal = JSON.stringify(await admin(hp).seals.save());
  for (const name of ["seal", "key"]) writeFileSync(join(folder, name), seal);
  return { url: bench.url, stage: { ...world, question, checkpoint, files: folder } };
}

const isNamed = (flag: string, { said }: Ran): boolean => said.includes(`--${flag}`);

/** The flags of a case that went nowhere and were not refused. */
async function lostIn(run: Run, command: Command, { words = [], base = {}, tries }: Case) {
  const lost: string[] = [];
  const without = await run(command, words, base);
  assert.deepEqual((await run(command, words, base)).sent, without.sent, "the same line asks for the same");
  for (const [flag, value] of Object.entries(tries)) {
    const tried = await run(command, words, { ...base, [flag]: value });
    const isSame = tried.sent.join("\n") === without.sent.join("\n");
    if (isSame && !isNamed(flag, tried))
      lost.push(`${command.name} ${words.join(" ")} --${flag}: ${tried.said}`);
  }
  return lost;
}

test("each flag of each command that works at a server reaches it, or is refused by name", async (t) => {
  const { url, stage } = await stageOf(t);
  const run = runnerAt(url);
  const cases = casesOf(stage);
  const lost: string[] = [];
  for (const command of COMMANDS.filter(({ onlyHere, placeless }) => !onlyHere && !placeless)) {
    const own = cases[command.name] ?? [];
    for (const one of own) lost.push(...(await lostIn(run, command, one)));
    const met = new Set([...(HERE[command.name] ?? []), ...own.flatMap(({ tries }) => Object.keys(tries))]);
    const missing = Object.keys(command.flags).filter((flag) => !met.has(flag));
    lost.push(...missing.map((flag) => `${command.name} --${flag} has no case`));
  }
  assert.deepEqual(lost, []);
  const verify = COMMANDS.find(({ name }) => name === "verify") ?? assert.fail();
  for (const flag of ["seal", "key"])
    assert.match((await run(verify, [], { [flag]: join(stage.files, flag) })).said, /--seal, --key/);
});
