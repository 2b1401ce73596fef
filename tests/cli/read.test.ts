// What can be looked at, as text, in a pipe and as JSON, on one store that holds a bit of everything.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { BIN, environment, errorOf, finished, linesOf, runCli, start } from "./bench.ts";

const cleanups: (() => Promise<void>)[] = [];
const folder: Folder = temporaryFolder({ after: (work) => void cleanups.push(work as () => Promise<void>) });
const ids = { pending: "", big: "", done: "", doubtful: "" };

async function fill(hp: Holdpoint): Promise<void> {
  const ask = hp.gate({
    name: "mail.send",
    policy: {
      verdict: "escalate",
      rule: "outbound",
      reason: "mail leaves the house",
      decideWithinMs: 3_600_000,
    },
    run: () => "sent",
  });
  const allowed = hp.gate({
    name: "note",
    policy: "approve",
    run: (args: { n: number }) => ({ kept: args.n }),
  });
  const lost = hp.gate({
    name: "wire",
    policy: "approve",
    run: () => {
      throw new Error("the line went dead");
    },
  });
  const options = { requestId: "m-1", waitMs: 0, rationale: "Ann asked for it.\nTwice." };
  const pending = await ask({ to: "ann", subject: "Hello" }, options);
  const big = await ask({ text: "long ".repeat(20_000) }, { requestId: "m-2", waitMs: 0 });
  const done = await allowed({ n: 1 }, { requestId: "n-1" });
  const doubtful = await lost({ euro: 5 }, { requestId: "w-1" });
  ids.pending = pending.status === "pending" ? (pending.approval ?? "") : "";
  ids.big = big.status === "pending" ? (big.approval ?? "") : "";
  ids.done = done.action;
  ids.doubtful = doubtful.status === "in_doubt" ? doubtful.effect : "";
}

before(async () => {
  const hp = folder.open();
  await fill(hp);
  await hp.close();
});
after(async () => {
  for (const work of cleanups) await work();
});

const cli = (...args: readonly string[]) => runCli(folder, args);

describe("approvals", () => {
  test("in a pipe is tab-separated, one line each", async () => {
    const { code, out, err } = await cli("approvals");
    assert.deepEqual([code, err], [0, ""]);
    const [first, second] = linesOf(out).map((line) => line.split("\t"));
    assert.deepEqual([first?.length, second?.length], [11, 11]);
    assert.deepEqual([first?.[0], first?.[1], first?.[3]], [ids.pending, "pending", "0/1"]);
    assert.match(`${first?.[2]} ${first?.[4]}`, /^\d{4}-\S+Z \d{4}-\S+Z$/);
    assert.deepEqual(first?.slice(5), [
      "mail.send",
      "agent:tester",
      '{"subject":"Hello","to":"ann"}',
      "action",
      "-",
      "mail.send: to ann, subject Hello",
    ]);
  });

  test("as JSON is one line each, with the fields of the API", async () => {
    const items = linesOf((await cli("approvals", "--json")).out).map((line) => JSON.parse(line));
    assert.deepEqual(
      items.map((item) => [item.id, item.status, item.tool, item.quorum]),
      [ids.pending, ids.big].map((id) => [id, "pending", "mail.send", 1]),
    );
    assert.equal(typeof items[0].requestedAt, "number");
  });

  test("says how many it does not show, and when there are none", async () => {
    const [limited, none, all, any, decided, bad, both] = await Promise.all([
      cli("approvals", "--limit", "1"),
      cli("approvals", "--status", "rejected"),
      cli("approvals", "--all"),
      cli("approvals", "--status", "any"),
      cli("approvals", "--status", "decided"),
      cli("approvals", "--status", "odd"),
      cli("approvals", "--status", "pending", "--all"),
    ]);
    assert.equal(linesOf(limited.out).length, 1);
    assert.match(limited.err, /… 1 more \(use --limit 2\)/);
    assert.deepEqual([none.code, none.out, none.err], [0, "", "No approval is rejected.\n"]);
    assert.equal(linesOf(all.out)[0]?.split("\t")[0], ids.big);
    assert.deepEqual([any.code, any.out], [0, all.out]);
    const isDecided = (line: string) => line.split("\t")[1] !== "pending";
    assert.deepEqual(linesOf(decided.out), linesOf(all.out).filter(isDecided));
    assert.deepEqual([bad.code, both.code], [2, 2]);
    assert.match(bad.err, /There are: pending, approved.*, decided, any\./);
  });

  test("does not mind a reader that goes away", async () => {
    const child = spawn(
      "sh",
      ["-c", `"$0" "$1" journal ${ids.pending} --full --json | head -c 10`, process.execPath, BIN],
      {
        env: environment(folder),
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const { out, err } = await finished(child);
    assert.deepEqual([out.length, err], [10, ""]);
  });
});

describe("show", () => {
  test("is the card of an approval: what, why, who, when, under which binding", async () => {
    const { code, out } = await cli("show", ids.pending);
    assert.equal(code, 0);
    for (const part of [
      `Approval ${ids.pending}  pending`,
      "What will run, if people agree\n  tool        mail.send",
      "it cannot be undone",
      '  │ subject: "Hello"\n  │ to: "ann"\n  as canonical JSON\n  │ {"subject":"Hello","to":"ann"}',
      "The agent says (its own words, not checked)\n  │ Ann asked for it.\n  │ Twice.",
      "rule        outbound\n  reason      mail leaves the house",
      "needs       1 of: any person; never agent:tester",
      "votes       none yet",
      "request id  m-1",
      `npx holdpoint approve ${ids.pending} --binding `,
    ])
      assert.ok(out.includes(part), part);
  });

  test("finds an action by its own, its effect's and its request id", async () => {
    const outs = await Promise.all(
      ["n-1", ids.done, ids.done.replace("act_", "eff_")].map((id) => cli("show", id)),
    );
    for (const { out } of outs) {
      assert.match(out, new RegExp(`^Action ${ids.done} {2}done`));
      assert.match(out, /What ran\n[\s\S]*Outcome\n[\s\S]*result\n {2}│ \{"kept":1\}/);
    }
  });

  test("cuts long values and says how much; --full shows them whole", async () => {
    const [short, full] = await Promise.all([cli("show", ids.big), cli("show", ids.big, "--full")]);
    assert.match(short.out, /… 99000 more characters \(use --full\)/);
    assert.ok(short.out.length < 10_000);
    assert.ok(!full.out.includes("more characters"));
    const sections = full.out.slice(full.out.indexOf("\n\n"));
    assert.equal((sections.match(/long/g) ?? []).length, 40_000);
  });

  test("as JSON is approval, action and receipt", async () => {
    const [asked, done] = await Promise.all([
      cli("show", ids.pending, "--json"),
      cli("show", "n-1", "--json"),
    ]);
    const card = JSON.parse(asked.out);
    assert.deepEqual([card.approval.id, card.action.phase, card.receipt], [ids.pending, "waiting", null]);
    assert.equal(JSON.parse(done.out).receipt.status, "applied");
  });
});

describe("journal", () => {
  test("is every entry in commit order, also of the approval", async () => {
    const [lines, json] = await Promise.all([cli("journal", ids.pending), cli("journal", "m-1", "--json")]);
    const types = ["action.proposed", "action.reviewed", "approval.requested"];
    assert.deepEqual(
      linesOf(lines.out).map((line) => line.split("\t")[3]),
      types,
    );
    const records = linesOf(json.out).map((line) => JSON.parse(line));
    assert.deepEqual(
      records.map((record) => record.type),
      types,
    );
    assert.deepEqual(
      records.map((record) => record.position),
      records.map((record) => record.position).toSorted((a, b) => a - b),
    );
    assert.match(lines.out, /… \d+ more characters \(use --full\)/);
  });
});

describe("in-doubt and receipt", () => {
  test("list effects in doubt with their reason, and show receipts", async () => {
    const [text, json, receipt, none] = await Promise.all([
      cli("in-doubt"),
      cli("in-doubt", "--json"),
      cli("receipt", "n-1"),
      cli("receipt", ids.pending, "--json"),
    ]);
    const [id, phase, since, ...more] = text.out.trimEnd().split("\t");
    assert.deepEqual([id, phase], [ids.doubtful, "in_doubt"]);
    assert.match(since ?? "", /^\d{4}-\S+Z$/);
    assert.deepEqual(more.slice(0, 3), ["wire", "w-1", "wire: euro 5"]);
    assert.match(more[3] ?? "", /^the line went dead; /);
    assert.match(text.err, /^Find out what happened, then: npx holdpoint resolve <effect> /);
    assert.equal(JSON.parse(json.out).effect.id, ids.doubtful);
    assert.match(receipt.out, /^Receipt: applied\n/);
    assert.deepEqual([none.code, errorOf(none)["code"]], [1, "no_receipt"]);
  });

  test("show what a process left behind that died in the middle", async (t) => {
    const place = temporaryFolder(t);
    const program = join(import.meta.dirname, "dies.ts");
    const child = spawn(process.execPath, ["--no-warnings", program], {
      env: environment(place),
      stdio: "ignore",
    });
    await finished(child);
    const [text, json] = await Promise.all([
      runCli(place, ["in-doubt"]),
      runCli(place, ["in-doubt", "--json"]),
    ]);
    assert.match(text.out, /^act_\w+\trunning\t\S+Z\tdies\td-1\tdies\tits process is gone\n$/);
    assert.equal(text.err, "An effect whose process is gone is taken over by the next one that runs.\n");
    assert.deepEqual([JSON.parse(json.out).abandoned, JSON.parse(json.out).phase], [true, "running"]);
    const welcome = await runCli(place, ["welcome", "--json"]);
    assert.deepEqual(JSON.parse(welcome.out).running, 1, "looking recovers nothing");
  });

  test("a person's word resolves a doubt, once", async (t) => {
    const place = temporaryFolder(t);
    const hp = place.open();
    const lost = hp.gate({
      name: "wire",
      policy: "approve",
      run: () => Promise.reject(new Error("timed out")),
    });
    const answer = await lost({}, { requestId: "w-1" });
    assert.ok(answer.status === "in_doubt");
    const resolve = ["resolve", answer.effect, "not_applied", "--reason"];
    const first = await runCli(place, [...resolve, "the bank says no"]);
    assert.equal(first.code, 0, first.err);
    assert.match(first.out, /^Resolved: act_\w+, wire, is not_applied, on the word of person:/);
    const [second, unknown] = await Promise.all([
      runCli(place, [...resolve, "again", "--json"]),
      runCli(place, ["resolve", `eff_${"0".repeat(26)}`, "applied", "--reason", "x", "--json"]),
    ]);
    assert.deepEqual([second.code, errorOf(second)["code"]], [1, "not_in_doubt"]);
    assert.deepEqual([unknown.code, errorOf(unknown)["code"]], [3, "unknown_id"]);
    const none = await runCli(place, ["in-doubt"]);
    assert.deepEqual([none.out, none.err], ["", "Nothing is in doubt.\n"]);
  });
});

describe("welcome", () => {
  test("counts what is there and names what waits", async () => {
    const { code, out } = await cli("welcome");
    assert.equal(code, 0);
    assert.match(out, /2 waiting for a decision, 1 in doubt, 0 running, 1 applied/);
    assert.ok(out.includes(ids.pending) && out.includes("npx holdpoint in-doubt"));
  });

  test("makes nothing where nothing is, and says how to begin", async () => {
    const empty = mkdtempSync(join(tmpdir(), "holdpoint-empty-"));
    const place = { path: join(empty, "data"), keyFile: join(empty, "key.json") };
    const { code, out } = await runCli(place, ["welcome"], { cwd: empty });
    assert.equal(code, 0);
    assert.match(
      out,
      /No journal here yet[\s\S]*npx node examples\/hello\.ts[\s\S]*npx holdpoint approve <id>[\s\S]*demo refund/,
    );
    assert.deepEqual(
      out.split("\n").filter((line) => line.length > 80),
      [],
    );
    assert.deepEqual(readdirSync(empty), []);
    rmSync(empty, { recursive: true });
  });

  test("the store is found upward from the working directory, like git's", async (t) => {
    const root = mkdtempSync(join(tmpdir(), "holdpoint-up-"));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const place = { path: "", keyFile: folder.keyFile };
    const hp = folder.open({ folder: join(root, ".holdpoint") });
    await hp.actions.list({ phase: "open" });
    await hp.close();
    assert.ok(existsSync(join(root, ".holdpoint")));
    const cwd = join(root, "deep", "inside");
    mkdirSync(cwd, { recursive: true });
    const child = start(place, ["welcome", "--json"], { cwd });
    assert.deepEqual(JSON.parse((await finished(child)).out), {
      folder: join(root, ".holdpoint"),
      store: true,
      pending: 0,
      inDoubt: 0,
      running: 0,
      applied: 0,
      stopped: null,
    });
  });
});

test("--help and --version answer on standard output", async () => {
  const [overview, version, command] = await Promise.all([
    cli("--help"),
    cli("--version"),
    cli("approve", "-h"),
  ]);
  assert.match(overview.out, /^holdpoint \d+\.\d+\.\d+: [\s\S]*Exit codes\n/);
  assert.match(version.out, /^\d+\.\d+\.\d+\n$/);
  assert.match(command.out, /^holdpoint approve \[id…\]\n[\s\S]*--binding <digits>/);
  assert.deepEqual([overview.code, version.code, command.code], [0, 0, 0]);
});
