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
