// Standing grants from a terminal: the program that calls runs in this process, the command line beside it.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;
const GIVE = [
  "grants",
  "give",
  "--tool",
  "payments.refund",
  "--uses",
  "2",
  "--for",
  "7d",
  "--reason",
  "small",
];
const LIMIT = ["--when", "args.amount_usd <= 100", "--total", "150.5 USD", "--amount", "args.amount_usd"];

const refundTool = (hp: Holdpoint) =>
  hp.gate({ name: "payments.refund", run: (args: { amount_usd: number }) => args.amount_usd });

describe("grants", () => {
  test("are given, used, listed, shown with every use, and revoked", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const refund = refundTool(hp);
    await refund({ amount_usd: 1 }, { requestId: "r-0", waitMs: 0 });
    const given = await runCli(folder, [...GIVE, ...LIMIT, "--json"]);
    assert.equal(given.code, 0, given.err);
    const { id, by, limit } = JSON.parse(given.out) as { id: string; by: string; limit: { total: object } };
    assert.equal(by, ME);
    assert.deepEqual(limit.total, { currency: "USD", micros: "150500000" });
    const answer = await refund({ amount_usd: 99.5 }, { requestId: "r-1", waitMs: 0 });
    assert.ok(answer.status === "done" && answer.receipt.grant === id);
    const [list, shown, action, journal] = await Promise.all([
      runCli(folder, ["grants"]),
      runCli(folder, ["grants", "show", id.slice(0, -1)]),
      runCli(folder, ["show", "r-1"]),
      runCli(folder, ["journal", id]),
    ]);
    const cells = linesOf(list.out)[0]?.split("\t") ?? [];
    assert.deepEqual(cells.slice(0, 6), [
      id,
      "active",
      "payments.refund",
      "any",
      "1/2",
      "99.5 USD of 150.5 USD",
    ]);
    assert.equal(cells.at(-1), "args.amount_usd <= 100");
    assert.match(shown.out, /uses +1 of 2/);
    assert.match(shown.out, new RegExp(`${answer.action}, 99.5 USD`));
    assert.match(action.out, new RegExp(`granted +${id} by ${ME}, +beforehand`));
    assert.match(journal.out, /grant\.given[\s\S]*grant\.used/);
    const revoked = await runCli(folder, ["grants", "revoke", id, "--reason", "two odd ones"]);
    assert.match(revoked.out, /^Revoked: .*Nothing more starts by it/);
    const again = await runCli(folder, ["grants", "revoke", id, "--reason", "once more"]);
    assert.equal(again.code, 0);
    assert.match(
      again.out,
      /^Already revoked: .*, \d{4}-.* ago\) by person:\S+: two odd ones\. Nothing was written\.\n$/,
    );
    const after = await refund({ amount_usd: 1 }, { requestId: "r-2", waitMs: 0 });
    assert.equal(after.status, "pending");
    const [none, all] = await Promise.all([
      runCli(folder, ["grants", "list"]),
      runCli(folder, ["grants", "list", "--all"]),
    ]);
    assert.deepEqual([none.out, none.err], ["", "There are no standing grants.\n"]);
    assert.match(all.out, /\trevoked\t/);
  });

  test("are reported as revoked before without escape sequences of the person who revoked them", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    refundTool(hp);
    const offer = { tool: "payments.refund", uses: 2, forMs: 3_600_000, by: "person:ann", reason: "small" };
    const { id } = await hp.grants.give(offer);
    await hp.grants.revoke(id, { by: "person:ann", reason: "\u001b[2J\u202eodd" });
    const again = await runCli(folder, ["grants", "revoke", id, "--reason", "once more"]);
    assert.match(again.out, /by person:ann: \\u001b\[2J\\u202eodd\. Nothing was written\.\n$/);
  });

  test("given wrongly are refused with what to type instead, and nothing is written", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    await refundTool(hp)({ amount_usd: 1 }, { requestId: "r-0", waitMs: 0 });
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["grants", "give", "--tool", "x"], 2, /^grants give needs --uses, --for, --reason\./],
      [["grants", "list", "x"], 2, /"x" is one word too many/],
      [[...GIVE.slice(0, 6), "--for", "soon", "--reason", "x"], 2, /span of time/],
      [
        [...GIVE.slice(0, 6), "--for", "91d", "--reason", "x"],
        2,
        /^--for "91d" is over 90 days, and no grant lasts longer/,
      ],
      [[...GIVE, "--total", "lots", "--amount", "1"], 2, /amount of money/],
      [[...GIVE, "--total", "5 USD"], 2, /together/],
      [[...GIVE, "--when", "args.amount_usd <"], 2, /"when"/],
      [[...GIVE, "--all"], 2, /--all does not go/],
      [[...GIVE.slice(0, 2), "--tool", "other", ...GIVE.slice(4)], 1, /No action of the tool "other"/],
      [
        [...GIVE.slice(0, 2), "--tool", "payments.refnd", ...GIVE.slice(4)],
        1,
        /did you mean payments\.refund\?/,
      ],
      [["grants", "revoke", "grt_ABCDEF", "--reason", "x"], 3, /No id begins/],
      [["grants", "show"], 2, /grt_/],
      [["grants", "show", "grt_"], 3, /"grt_" is too short: type at least 6 characters after grt_\./],
      [["grants", "steal"], 2, /no "grants steal"/],
      [["grants", "gve"], 2, /no "grants gve" \(did you mean give\?\)/],
    ];
    const ran = await Promise.all(cases.map(([line]) => runCli(folder, [...line, "--json"])));
    for (const [at, [line, code, said]] of cases.entries()) {
      const one = ran[at] ?? assert.fail();
      assert.match(`${errorOf(one)["what"]} ${errorOf(one)["message"]}`, said, line.join(" "));
      assert.equal(one.code, code, `${line.join(" ")}: ${one.err}`);
    }
    assert.deepEqual((await hp.grants.list({ status: "any" })).items, []);
  });
});
