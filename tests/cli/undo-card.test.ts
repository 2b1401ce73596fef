// How an agent would take back what it asks for, on the card that people read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";

test("the card shows the undo that the agent named, with strangers' characters made visible", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const agent = "agent:far";
  const workflow = await hp.remote.workflows.create({ name: "Trip", by: agent });
  await hp.remote.workflows.start(workflow, { agent });
  const undo = { tool: "hotel.cancel", args: { booking: 7, note: "b\u001b[31m\u202e" } };
  await hp.remote.propose({
    tool: "hotel.book",
    args: { hotel: 1 },
    requestId: "book",
    agent,
    workflow,
    undo,
  });
  const [shown, json] = await Promise.all([
    runCli(folder, ["show", "book"]),
    runCli(folder, ["show", "book", "--json"]),
  ]);
  assert.match(
    shown.out,
    /The agent says how it would undo it, if its workflow goes back \(not checked\)\n +tool +hotel\.cancel/,
  );
  assert.match(shown.out, /only the agent says how it would be\s+undone/);
  assert.match(shown.out, /booking: 7/);
  assert.ok(!shown.out.includes("\u001b[31m") && !shown.out.includes("\u202e"));
  const { approval } = JSON.parse(json.out) as { approval: { undo: unknown } };
  assert.partialDeepStrictEqual(approval.undo, undo);
});
