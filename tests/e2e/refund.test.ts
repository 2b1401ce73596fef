import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { cli, killHard, linesOf, makePlace, type Place, ROOT, run, startUntil } from "./program.ts";

const BIN = join(ROOT, "bin/holdpoint.mjs");
const MAIN = join(ROOT, "examples/refund/main.ts");
const ASKED = /approve (apr_[0-9A-Z]{26})/;

async function inPlace(look: (place: Place) => void | Promise<void>): Promise<void> {
  const made = makePlace();
  const env = { ...made.env, TMPDIR: made.folder, OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "" };
  try {
    await look({ ...made, env });
  } finally {
    made.remove();
  }
}

const demo = (place: Place, ...args: readonly string[]) => cli(place, "demo", "refund", ...args);

function played(place: Place, ...args: readonly string[]): SuperviseResult {
  const ran = demo(place, ...args, "--json");
  assert.equal(ran.code, 0, ran.err);
  return JSON.parse(ran.out) as SuperviseResult;
}

/** What is left behind, but for the key and what the machine saw. */
const left = (place: Place) =>
  readdirSync(place.folder).filter((name) => !/^(?:key\.json|witness)$/.test(name));

describe("demo refund", () => {
  test("--approve-cap 800 plays the person and prints the trace", () =>
    inPlace((place) => {
      const ran = demo(place, "--approve-cap", "800");
      assert.equal(ran.code, 0, ran.err);
      assert.match(ran.out, /risk +60, high \(over_auto_limit, whole_charge\)/);
      assert.match(ran.out, /1 +get_refund_context +feaa769a39ae +approve +original/);
      assert.match(ran.out, /2 +issue_refund +[0-9a-f]{12} +escalate +human_revised +60/);
      assert.match(ran.out, /person:ann approved; 1200 USD, changed to\s+800 USD/);
      assert.match(ran.out, /3 +send_refund_email +[0-9a-f]{12} +approve +original/);
      assert.match(ran.out, /4 +final +- +approve +original/);
      assert.match(
        ran.out.replaceAll(/\s+/g, " "),
        /refunded 800 USD\. A person had to approve it \(policy: high_refund_requires_human\)/,
      );
      assert.match(ran.out, /ok, stop_reason: success/);
      assert.match(ran.out, /Verified: \d+ entries/);
      const wide = ran.out.split("\n").filter((line) => line.length > 80);
      assert.deepEqual(wide, []);
      assert.deepEqual(left(place), []);
    }));

  test("--reject ends with human_rejected, and nothing was paid", () =>
    inPlace((place) => {
      const data = join(place.folder, "kept");
      const { stop_reason, phase, trace } = played(place, "--reject", "--data", data);
      assert.deepEqual([stop_reason, phase], ["human_rejected", "human_approval"]);
      assert.partialDeepStrictEqual(trace.at(-1), { tool: "issue_refund", human_approved: false, ok: false });
      assert.ok(!existsSync(join(data, "outside.log")));
    }));

  test("--amount 1000 asks nobody; a cent more does", () =>
    inPlace((place) => {
      const { status, trace, history } = played(place, "--amount", "1000");
      assert.equal(status, "ok");
      assert.deepEqual(
        trace.map(({ tool, supervisor_decision, executed_from }) => [
          tool,
          supervisor_decision,
          executed_from,
        ]),
        [
          ["get_refund_context", "approve", "original"],
          ["issue_refund", "approve", "original"],
          ["send_refund_email", "approve", "original"],
          ["final", "approve", "original"],
        ],
      );
      assert.equal(history[1]?.supervisor?.reason, "refund_within_auto_limit");
      assert.deepEqual(left(place), []);
      const { trace: more } = played(place, "--amount", "1000.01", "--approve-cap", "800");
      assert.equal(more[1]?.supervisor_decision, "escalate");
    }));

  test("killed while it waits, decided in a second terminal, started again: the same run, and one refund", () =>
    inPlace(async (place) => {
      const { child, match } = await startUntil(place, BIN, ASKED, "demo", "refund", "--json");
      await killHard(child);
      const data = join(place.folder, ".holdpoint-demo");
      assert.deepEqual(linesOf(place, ".holdpoint-demo/outside.log"), []);
      const approved = cli(place, "approve", match[1] ?? "", "--edit", '{"amount_usd":800}', "--data", data);
      assert.equal(approved.code, 0, approved.err);
      const before = cli(place, "workflows", "--data", data, "--json");
      const { id } = JSON.parse(before.out.split("\n")[0] ?? "{}") as { readonly id: string };

      const result = played(place);
      assert.equal(result.workflow, id);
      assert.equal(result.stop_reason, "success");
      assert.partialDeepStrictEqual(result.trace[1], {
        executed_from: "human_revised",
        human_approved: true,
      });
      assert.deepEqual(left(place), []);
    }));

  test("in a folder of one's own the money moves once, however often it is killed and started", () =>
    inPlace(async (place) => {
      const data = join(place.folder, "kept");
      const args = ["demo", "refund", "--json", "--data", data];
      for (let lives = 0; lives < 2; lives++) {
        const { child } = await startUntil(place, BIN, ASKED, ...args);
        await killHard(child);
      }
      const { workflow } = played(place, "--data", data, "--approve-cap", "800");
      const amounts = linesOf(place, "kept/outside.log").map((line) => JSON.parse(line).amount_usd);
      assert.deepEqual(amounts, [800, 800]);
      assert.notEqual(played(place, "--data", data, "--amount", "5").workflow, workflow);
      const verified = cli(place, "verify", "--data", data);
      assert.equal(verified.code, 0, verified.out + verified.err);
    }));

  test("an edit that the policy forbids, from a second terminal, is refused with the rule; so is another tool", () =>
    inPlace(async (place) => {
      const { child, match } = await startUntil(place, BIN, ASKED, "demo", "refund", "--json");
      const ended = new Promise((done) => child.once("exit", done));
      const decide = (...args: readonly string[]) => cli(place, ...args, "--data", ".holdpoint-demo");
      const [, id = ""] = match;
      for (const [edit, why] of [
        ['{"amount_usd":0}', /"invalid_refund_amount"/],
        ['{"name":"send_refund_email"}', /name/],
      ] as const) {
        const ran = decide("approve", id, "--edit", edit);
        assert.equal(ran.code, 1, ran.out);
        assert.match(ran.err, why);
        assert.deepEqual(linesOf(place, ".holdpoint-demo/outside.log"), []);
      }
      assert.match(decide("show", id).out, /pending/);
      assert.equal(decide("reject", id, "--reason", "not this time").code, 0);
      assert.equal(await ended, 0);
    }));

  test("left with Ctrl-C it says how to go on, and goes on", () =>
    inPlace(async (place) => {
      const { child } = await startUntil(place, BIN, ASKED, "demo", "refund", "--json");
      const ended = new Promise((done) => child.once("exit", done));
      child.kill("SIGINT");
      assert.equal(await ended, 130);
      assert.deepEqual(left(place), [".holdpoint-demo"]);
      assert.equal(played(place, "--reject", "--data", ".holdpoint-demo").stop_reason, "human_rejected");
    }));

  test("while a run waits another amount is refused, with how to go on and how to begin anew", () =>
    inPlace(async (place) => {
      const { child } = await startUntil(place, BIN, ASKED, "demo", "refund", "--json");
      await killHard(child);
      const other = demo(place, "--amount", "900");
      assert.deepEqual([other.code, other.out], [2, ""]);
      assert.match(other.err, /A run about 1200 USD is not over yet, so none begins with --amount 900\./);
      assert.match(other.err, /Go on with it: npx holdpoint demo refund; or/);
      const [, cancel = ""] = /npx holdpoint (cancel .*) \[usage\]/.exec(other.err) ?? [];
      const words = cancel.replaceAll('"', "").replace("another amount", "another_amount").split(" ");
      assert.equal(cli(place, ...words).code, 0);
      const { status, history } = played(place, "--amount", "900");
      assert.equal(status, "ok");
      assert.partialDeepStrictEqual(history[1]?.action, { args: { amount_usd: 900 } });
    }));

  test("refuses what it cannot do, before it does anything", () =>
    inPlace((place) => {
      for (const args of [
        ["refund", "--approve-cap", "0"],
        ["refund", "--amount", "a lot"],
        ["refund", "--without"],
        ["refund", "--reject", "--approve-cap", "5"],
        ["pizza", "--amount", "5", "--yes"],
      ]) {
        const ran = cli(place, "demo", ...args);
        assert.equal(ran.code, 2, args.join(" "));
        assert.equal(ran.out, "");
      }
      assert.deepEqual(left(place), []);
    }));
});

describe("examples/refund", () => {
  test("killed while it waits, approved elsewhere, run again: the same run goes on, and the refund is paid once", () =>
    inPlace(async (place) => {
      const { child, match } = await startUntil(place, MAIN, ASKED);
      await killHard(child);
      assert.deepEqual(linesOf(place, "outside.log"), []);
      const approved = cli(place, "approve", match[1] ?? "");
      assert.equal(approved.code, 0, approved.err);
      const first = run(place, MAIN);
      const result = JSON.parse(first.out) as SuperviseResult;
      assert.equal(result.stop_reason, "success");
      assert.partialDeepStrictEqual(result.trace[1], { executed_from: "original", human_approved: true });
      assert.equal(run(place, MAIN).out, first.out);
      assert.partialDeepStrictEqual(
        linesOf(place, "outside.log").map((line) => JSON.parse(line) as object),
        [{ amount_usd: 1200 }, { to: "anna@example.com" }],
      );
      assert.equal(linesOf(place, "outside.log").length, 2);
    }));

  for (const name of ["tools", "script"])
    test(`${name}.ts is what the demo plays, word for word`, () => {
      const words = (file: string) =>
        readFileSync(join(ROOT, file), "utf8")
          .replace('from "../../src/index.ts"', 'from "holdpoint"')
          .split("\n");
      const isImport = (line: string) => line.startsWith("import ");
      const example = words(`examples/refund/${name}.ts`);
      const demo = words(`examples/demos/refund-${name}.ts`);
      // Imports stand in another order, because of where they lead.
      assert.deepEqual(demo.filter(isImport).sort(), example.filter(isImport).sort());
      assert.deepEqual(
        demo.filter((line) => !isImport(line)),
        example.filter((line) => !isImport(line)),
      );
    });
});
