// Alerts from a terminal: the monitor is in this process, the command line beside it.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;

describe("alerts on the command line", () => {
  test("are listed, acknowledged by whoever types, and shown as JSON", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const rules = [
      {
        kind: "rate",
        name: "busy\u202eyltcaxe",
        of: "calls",
        per: "tool",
        windowMs: 3_600_000,
        above: 1,
        severity: "critical",
      },
    ] as const;
    const monitor = await admin(hp).monitor({ name: "watch", rules });
    const ping = hp.gate({ name: "ping", policy: "approve", effect: "read", run: () => 1 });
    assert.equal((await runCli(folder, ["alerts"])).err, "There are no active alerts.\n");
    for (const requestId of ["1", "2"]) await ping({}, { requestId });
    await monitor.caughtUp();
    const listed = await runCli(folder, ["alerts"]);
    const [line = ""] = linesOf(listed.out);
    const [id = "", status, severity, , seen, name, rule, subject, says] = line.split("\t");
    assert.deepEqual(
      [status, severity, seen, name, subject],
      ["standing", "critical", "-", "watch", "tool:ping"],
    );
    assert.equal(rule, "busy\\u202eyltcaxe", "text of programs is made visible");
    assert.match(says ?? "", /more than 1 calls within 1 h/);
    const seenBy = await runCli(folder, ["alerts", "ack", id.slice(0, 12), "--note", "month's end"]);
    assert.equal(seenBy.out, `Seen: ${id}. Active until its condition ends.\n`);
    const again = await runCli(folder, ["alerts", "ack", id, "--note", "once more"]);
    assert.match(
      again.out,
      /^Seen already: alr_\w+, .* ago\) by person:\S+: month's end\. Nothing was written\./,
    );
    const [card, journal] = await Promise.all([
      runCli(folder, ["show", id]),
      runCli(folder, ["journal", id]),
    ]);
    assert.match(card.out, /^Alert alr_\w+ {2}critical\n/);
    assert.match(card.out, /about +tool:ping\n +says +more than 1 calls within 1 h\n/);
    assert.match(card.out, /rule +busy\\u202eyltcaxe, of kind rate\n/);
    assert.match(card.out, /seen +.* by person:\S+: month's end\n/);
    assert.match(journal.out, /alert\.raised[\s\S]*alert\.acknowledged/);
    const json = JSON.parse((await runCli(folder, ["alerts", "--json"])).out) as Record<string, unknown>;
    assert.partialDeepStrictEqual(json, { id, acknowledgedBy: ME, figures: { count: 2, above: 1 } });
    await hp.close();
  });

  test("that do not exist, and words that do not belong, are refused", async (context) => {
    const folder = temporaryFolder(context);
    await admin(folder.open()).seals.create();
    const failed = async (...args: string[]) => {
      const ran = await runCli(folder, ["alerts", ...args, "--json"]);
      return [ran.code, errorOf(ran)["code"]];
    };
    assert.deepEqual(await failed("ack"), [2, "usage"]);
    assert.deepEqual(await failed("see", "alr_1"), [2, "usage"]);
    assert.deepEqual(await failed("--note", "x"), [2, "usage"]);
    assert.deepEqual(await failed("ack", "wf_01M7GF1H25"), [3, "unknown_id"]);
    assert.deepEqual(await failed("ack", `alr_${"0".repeat(26)}`), [3, "unknown_id"]);
    for (const id of ["alr_01", "alr_01M7GF1H25", `alr_${"0".repeat(26)}`, "apr_01M7GF1H25"]) {
      const { next = "" } = errorOf(await runCli(folder, ["alerts", "ack", id, "--json"]));
      assert.match(next, /`holdpoint alerts --all` lists them/, id);
    }
  });
});

test("the card of a checkpoint that a monitor raised says why and offers no edit", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const rules = [{ kind: "resources", name: "long", operations: 1, raise: "checkpoint" }] as const;
  await admin(hp).monitor({ name: "watch", rules });
  const mail = hp.gate({ name: "mail.send", policy: "approve", effect: "idempotent", run: () => 1 });
  const flow = hp.workflow("letters", async (ctx, _: object) => {
    await ctx.call(mail, {});
    await ctx.sleep(100);
    await ctx.call(mail, {});
  });
  const run = await flow.start({});
  const id = await pendingApproval(hp);
  const { out } = await runCli(folder, ["show", id]);
  for (const text of ["watch: long", "it has used 2 operations, over 1 operations", "What the monitor knows"])
    assert.ok(out.includes(text), `"${text}" is missing in ${out}`);
  assert.match(out, /mail\.send \(act_\w+\) stays done/);
  assert.doesNotMatch(out, /--edit|The agent says|its outputs/);
  const ran = await runCli(folder, ["approve", id]);
  assert.equal(ran.code, 0, ran.err);
  assert.equal((await run.result()).status, "completed");
  const story = await runCli(folder, ["show", run.id]);
  assert.match(story.out, /watch: long/);
  await hp.close();
});
