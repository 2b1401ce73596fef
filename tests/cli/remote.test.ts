// The command line at a server: the same words, the same answers, as whoever is logged in there.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { addPerson, issueApiKey, offerLogin } from "../fixtures/people.ts";
import { type Bench, type BenchOptions, serverBench } from "../fixtures/server.ts";
import { errorOf, finished, type Ran, runCli, start } from "./bench.ts";

const by = "person:root";

type Site = {
  readonly folder: Folder;
  readonly bench: Bench;
  readonly hp: Holdpoint;
  /** Where the user's configuration is, at the other end. */
  readonly config: string;
  /** At the server, from a place that has no store. */
  there(
    args: readonly string[],
    options?: { readonly input?: string; readonly env?: NodeJS.ProcessEnv },
  ): Promise<Ran>;
  here(args: readonly string[]): Promise<Ran>;
};

async function site(t: TestContext, options: BenchOptions = {}): Promise<Site> {
  const folder = temporaryFolder(t);
  const root = dirname(folder.path);
  const hp = folder.open();
  await admin(hp).seals.create();
  const bench = await serverBench(t, { folder: root, ...options });
  const home = temporaryFolder(t);
  const config = join(dirname(home.path), "config");
  const place = { path: "", keyFile: join(config, "key.json") };
  const empty = { HOLDPOINT_DATABASE: "", HOLDPOINT_SERVER: "", HOLDPOINT_API_KEY: "" };
  return {
    folder,
    bench,
    hp,
    config,
    there(args, { input = "", env = {} } = {}) {
      const options = { cwd: dirname(home.path), env: { ...empty, ...env } };
      if (input === "") return runCli(place, args, options);
      const child = start(place, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
      child.stdin?.end(input);
      return finished(child);
    },
    here: (args) => runCli(folder, args, { env: empty }),
  };
}

test("a question whose arguments look like a number of ours is shown and rejected at a distance", async (t) => {
  const { hp, bench, there, here } = await site(t);
  const pay = hp.gate({ name: "pay", policy: "escalate", run: (_: object) => "paid" });
  const args = { amount: { $micros: "x" }, fee: { $micros: "5" } };
  void pay(args, { requestId: "pay-1" }).catch(() => undefined);
  const approval = await pendingApproval(hp);
  const server = ["--server", bench.url];
  const shown = await there(["show", approval, "--json", ...server]);
  assert.equal(shown.code, 0, shown.err);
  assertSame(shown.out, (await here(["show", approval, "--json"])).out);
  assert.ok(shown.out.includes("$micros") && !shown.out.includes("$$micros"));
  const rejected = await there(["reject", approval, "--reason", "no", ...server]);
  assert.equal(rejected.code, 0, rejected.err);
});

/** In JSON the order of fields has no meaning. */
function assertSame(far: string, near: string, message?: string): void {
  if (near.startsWith("{")) assert.deepEqual(JSON.parse(still(far)), JSON.parse(still(near)), message);
  else assert.equal(still(far), still(near), message);
}

/** Ages differ by the second in which one looks. */
const still = (text: string): string => text.replaceAll(/\b\d+ ?(?:ms|s|min)\b( ago)?|\bnow\b/g, "…");

test("what is read at a server is what is read in its store, for people and for programs", async (t) => {
  const { hp, bench, there, here } = await site(t);
  const pay = hp.gate({
    name: "pay",
    effect: "idempotent",
    policy: { verdict: "escalate", decideWithinMs: 3_600_000 },
    run: () => "paid",
  });
  const flow = hp.workflow("flow", async (ctx, _: object) => ctx.checkpoint("Look", { outputs: { n: 1 } }));
  const { id } = await flow.start({});
  void pay({ amount: 1 }, { requestId: "pay-1" }).catch(() => undefined);
  const approval = await pendingApproval(hp, 1);
  const commands = [
    ["approvals"],
    ["show", approval],
    ["show", approval.slice(0, 16), "--json"],
    ["show", id],
    ["journal", id],
    ["verify", "--json"],
  ];
  const pairs = commands.map(async (args) => {
    const [near, far] = await Promise.all([here(args), there([...args, "--server", bench.url])]);
    assert.equal(far.code, near.code, `${args}: ${far.err}`);
    assertSame(far.out.replaceAll(` --server ${bench.url}`, ""), near.out, String(args));
  });
  await Promise.all(pairs);
});

test("a person logs in by a key that is typed and not shown, decides as themselves, and logs out", async (t) => {
  const { bench, hp, there, config } = await site(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin", "supervisor"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "terminal", by });
  const pay = hp.gate({ name: "pay", policy: "escalate", run: () => "paid" });
  const paid = pay({ amount: 1 }, { requestId: "pay-1" });
  const approval = await pendingApproval(hp);

  const refused = await there(["approvals", "--server", bench.url, "--json"]);
  assert.equal(errorOf(refused)["code"], "unauthenticated");
  assert.equal(errorOf(refused)["next"], `Log in: holdpoint login --server ${bench.url}`);
  const wrong = await there(["login", "--server", bench.url, "--json"], { input: `${text}x\n` });
  assert.equal(errorOf(wrong)["code"], "unauthenticated");

  const login = await there(["login", "--server", `${bench.url}/`], { input: text });
  assert.equal(login.code, 0, login.err);
  assert.match(login.out, /as person:root/);
  assert.ok(!`${login.out}${login.err}`.includes(text));
  const file = join(config, "logins.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(config).mode & 0o777, 0o700);
  assert.ok(readFileSync(file, "utf8").includes(text));

  // From now on the server is named by nothing but the login.
  const seen = await there(["approvals"]);
  assert.match(seen.out, new RegExp(approval));
  const whoami = await there(["whoami", "--json"]);
  assert.equal(JSON.parse(whoami.out).principal, by);
  const done = await there(["approve", approval, "--note", "fine"]);
  assert.equal(done.code, 0, done.err);
  assert.equal((await paid).status, "done");
  const { votes } = await hp.approvals.get(approval);
  assert.deepEqual([votes[0]?.by, votes[0]?.via, votes[0]?.note], [by, "api_key", "fine"]);
  const stop = await there(["pause", "--reason", "look"]);
  assert.equal(stop.code, 0, stop.err);
  assert.equal((await hp.paused()).paused, true);

  const out = await there(["logout"]);
  assert.equal(out.code, 0, out.err);
  assert.equal((await there(["approvals", "--json"])).code, 3);
});

test("a link that works once makes a session, which is kept for this user alone and ended there at logout", async (t) => {
  const { bench, there, config } = await site(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { link: text } = await offerLogin(runtime, by, { by });
  const login = await there(["login", "--json"], { input: `${bench.url}/login#${text}\n` });
  assert.equal(login.code, 0, login.err);
  assert.equal(JSON.parse(login.out).principal, by);
  const { cookie } = Object.values(
    JSON.parse(readFileSync(join(config, "logins.json"), "utf8")).logins,
  )[0] as {
    cookie: string;
  };
  // A session changes something as well: the token goes along.
  const added = await there(["people", "add", "ann", "--role", "supervisor"]);
  assert.equal(added.code, 0, added.err);
  const again = await there(["login", "--json"], { input: `${bench.url}/login#${text}\n` });
  assert.equal(errorOf(again)["code"], "unauthenticated");
  assert.equal((await there(["logout"])).code, 0);
  assert.equal((await bench.ask("/api/session", { headers: { cookie } })).status, 401);
});

test("an admin adds somebody at a distance and gives them a link, by which they log in there, once", async (t) => {
  const { bench, there } = await site(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "terminal", by });
  const asAdmin = (...line: readonly string[]) =>
    there([...line, "--server", bench.url], { env: { HOLDPOINT_API_KEY: text } });
  const added = await asAdmin("people", "add", "ann", "--role", "supervisor");
  assert.equal(added.code, 0, added.err);
  assert.equal((await asAdmin("keys", "list")).code, 0);
  const link = await asAdmin("login-link", "ann", "--for", "30m");
  assert.equal(link.code, 0, link.err);
  assert.ok(link.out.startsWith(`${bench.url}/login#hpl_`), link.out);
  const login = await there(["login", "--json"], { input: link.out });
  assert.equal(JSON.parse(login.out).principal, "person:ann", login.err);
  const again = await there(["login", "--json"], { input: link.out });
  assert.equal(errorOf(again)["code"], "unauthenticated");
  const refused = await there(["login-link", "ann", "--json"]);
  assert.equal(errorOf(refused)["code"], "forbidden");
});

test("what cannot be done at a distance says so and why, and a server that is away is said to be", async (t) => {
  const { bench, there } = await site(t);
  const far = await there(["seal", "--server", bench.url, "--json"]);
  assert.equal(far.code, 2);
  assert.match(String(errorOf(far)["what"]), /not done at a distance: the key that signs/);
  const both = await there(["approvals", "--server", bench.url, "--data", ".", "--json"]);
  assert.equal(errorOf(both)["code"], "usage");
  const seal = await there(["verify", "--key", "none.json", "--server", bench.url, "--json"]);
  assert.notEqual(seal.code, 0);
  const away = await there(["approvals", "--json"], { env: { HOLDPOINT_SERVER: "http://127.0.0.1:9" } });
  assert.equal(away.code, 4);
  assert.equal(errorOf(away)["code"], "store_unavailable");
  const strange = await there(["approvals", "--server", "nowhere", "--json"]);
  assert.equal(errorOf(strange)["code"], "usage");
});
