/** Who takes the question of a workflow back, on the real store. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { isHoldpointError } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const FAR = { agent: "agent:far" };

test("a supervisor who is not asked does not end the question of a checkpoint; its poster and its agent do", async (context) => {
  const hp = temporaryFolder(context).open();
  const by = "person:root";
  await admin(hp).people.add({ person: by, roles: ["admin"], by });
  for (const person of ["person:ann", "person:bob"])
    await admin(hp).people.add({ person, roles: ["supervisor"], by });
  await admin(hp).people.add({ person: "person:pia", roles: ["poster"], by });
  const { workflows } = hp.remote;
  for (const ender of ["person:pia", FAR.agent, "person:ann"]) {
    const checkpoints = [{ name: "Plan", approvers: { from: ["person:ann"], separate: true } }];
    const parties = { poster: "person:pia", executor: FAR.agent };
    const id = await workflows.create({ name: "Trip", checkpoints, ...parties, by: "person:pia" });
    await workflows.start(id, FAR);
    await workflows.checkpoint(id, { checkpoint: "Plan", summary: "s", ...FAR });
    const question = await pendingApproval(hp);
    await assert.rejects(
      hp.approvals.cancel(question, { by: "person:bob", reason: "no" }),
      (error) => isHoldpointError(error, "not_eligible") && /neither asks nor may decide/.test(error.message),
    );
    assert.equal((await hp.approvals.get(question)).status, "pending");
    await hp.approvals.cancel(question, { by: ender, reason: "no" });
    assert.equal((await hp.approvals.get(question)).status, "cancelled", ender);
  }
});
