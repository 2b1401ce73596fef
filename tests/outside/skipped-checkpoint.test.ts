/** A checkpoint at which people are asked is not gone around by the agent that drives the workflow. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Holdpoint, isHoldpointError } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const FAR = { agent: "agent:far" };
const ANN = { by: "person:ann" };
const CHECKPOINTS = [
  { name: "Plan", approvers: { from: ["person:ann"] } },
  { name: "Unsure", when: { confidenceBelow: 0.5 } },
  { name: "Note", requiresApproval: false },
];

async function begun(hp: Holdpoint): Promise<string> {
  const parties = { poster: "person:pia", executor: FAR.agent };
  const id = await hp.remote.workflows.create({
    name: "Trip",
    checkpoints: CHECKPOINTS,
    ...parties,
    by: "person:pia",
  });
  await hp.remote.workflows.start(id, FAR);
  return id;
}

const missing = (names: string) => (error: unknown) =>
  isHoldpointError(error, "wrong_state") && error.message.includes(`it has not passed ${names},`);

describe("a workflow whose agent has not stood at a checkpoint that asks people", () => {
  test("is not completed until each was passed; one that needs no approval may be left out", async (context) => {
    const hp = temporaryFolder(context).open();
    const { workflows } = hp.remote;
    const id = await begun(hp);
    await assert.rejects(workflows.complete(id, FAR), missing('"Plan", "Unsure"'));
    assert.equal((await workflows.get(id)).status, "executing");
    await workflows.checkpoint(id, { checkpoint: "Unsure", confidence: 0.9, ...FAR });
    await assert.rejects(workflows.complete(id, FAR), missing('"Plan"'));
    await workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    assert.equal(await workflows.complete(id, FAR), "completed");
    assert.equal(await workflows.complete(id, FAR), "completed", "said again");
  });

  test("is not completed either where it went back past one that was passed", async (context) => {
    const hp = temporaryFolder(context).open();
    const { workflows } = hp.remote;
    const id = await begun(hp);
    await workflows.checkpoint(id, { checkpoint: "Unsure", confidence: 0.9, ...FAR });
    await workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    await hp.workflows.rollback(id, { ...ANN, reason: "once more", to: "start" });
    while ((await workflows.get(id)).status !== "executing")
      await new Promise<void>((resolve) => setTimeout(resolve, 10));
    await assert.rejects(workflows.complete(id, FAR), missing('"Plan", "Unsure"'));
  });

  test("may fail, and be cancelled", async (context) => {
    const hp = temporaryFolder(context).open();
    const { workflows } = hp.remote;
    assert.equal(await workflows.fail(await begun(hp), { ...FAR, reason: "no flight" }), "failed");
    assert.equal(await workflows.cancel(await begun(hp), { ...ANN, reason: "enough" }), "failed");
  });
});
