// Commands that are offered to be typed find the store that they speak of.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";

test("what `show` offers to type next names the store where it is not the default one", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const flow = hp.workflow("flow", async (ctx, _: object) => ctx.checkpoint("Look"));
  const { id } = await flow.start({});
  const approval = await pendingApproval(hp);
  for (const shown of [id, approval]) {
    const here = await runCli(folder, ["show", shown]);
    assert.doesNotMatch(here.out, /--data/, "the environment names the store");
    const there = await runCli(folder, ["show", shown, "--data", folder.path]);
    const offered = there.out.split("\n").filter((line) => line.startsWith("  npx holdpoint "));
    assert.ok(offered.length > 2, there.out);
    for (const line of offered) assert.ok(line.endsWith(` --data ${folder.path}`), line);
  }
});

const ONLY_HERE = [
  ["export"],
  ["seal"],
  ["restored"],
  ["policy", "backtest", "policy.yaml"],
  ["policy", "suggest"],
  ["monitor", "rules.yaml"],
  ["views", "rebuild"],
];

test("what works on a store of this machine says so at once where a server is named and no store is here", async (t) => {
  const folder = temporaryFolder(t);
  const env = { HOLDPOINT_SERVER: "http://127.0.0.1:9", HOLDPOINT_DATABASE: "" };
  for (const args of ONLY_HERE) {
    const { code, err } = await runCli(folder, args, { env });
    assert.equal(code, 3, err);
    assert.match(err, /works on a store of this machine, not at a server/, args.join(" "));
    assert.match(err, /--data <folder> .* --database <url>/s);
    assert.doesNotMatch(err, /--server/);
  }
  const other = await runCli(folder, ["approvals"], {
    env: { HOLDPOINT_SERVER: "", HOLDPOINT_DATABASE: "" },
  });
  assert.match(other.err, /or use a server: --server <url>/);
});
