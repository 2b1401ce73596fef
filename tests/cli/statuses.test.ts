// `holdpoint show` prints the status that the caller of an action is answered with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineStatuses, EXPECTED } from "../fixtures/five-statuses.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";

test("show says done, pending, failed, refused or in doubt of an action", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const tools = defineStatuses(hp);
  const actions = new Map<string, string>();
  for (const [name, tool] of tools)
    actions.set(name, (await tool({}, { requestId: name, waitMs: 0 })).action);
  await hp.close();
  for (const { tool, status } of EXPECTED) {
    const { out, code } = await runCli(folder, ["show", actions.get(tool) ?? ""]);
    assert.equal(code, 0, out);
    assert.match(out, new RegExp(`\\b${status.replace("_", " ")}\\b`), `${tool}: ${out}`);
    if (!["pending"].includes(status))
      assert.match(out, new RegExp(`^Outcome\\n +status +${status.replace("_", " ")}$`, "m"), out);
  }
});
