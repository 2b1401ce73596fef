// A request id names one thing for ever: with other content under it, whoever sends it is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serverBench } from "../fixtures/server.ts";

const post = (body: unknown) => ({ method: "POST", body }) as const;

test("a workflow under a taken request_id with other terms is a conflict, and with the same ones the same workflow", async (t) => {
  const bench = await serverBench(t);
  const creation = {
    ...{ name: "Trip", executor_id: "far", checkpoint_names: ["Plan"], request_id: "w" },
    ...{ attempts: 3, rollback_enabled: true, on_irreversible: "continue", on_behalf_of: ["person:eve"] },
  };
  const make = (more: object) => bench.ask("/api/workflows", post({ ...creation, ...more }));
  const first = await make({});
  assert.equal(first.status, 200, first.text);
  assert.equal((await make({})).body["workflow_id"], first.body["workflow_id"]);
  for (const other of [
    { attempts: 4 },
    { attempts: undefined },
    { rollback_enabled: false },
    { on_irreversible: "fail" },
    { on_behalf_of: ["person:ann"] },
    { on_behalf_of: null },
    { input: { n: 1 } },
    { supervisor_id: "sue" },
  ]) {
    const { status, body, text } = await make(other);
    assert.deepEqual([status, body["code"]], [409, "request_conflict"], `${JSON.stringify(other)} ${text}`);
    assert.equal(body["workflow"], first.body["workflow_id"]);
  }
});

test("whom a workflow acts for does not decide at its checkpoints, nor about its actions", async (t) => {
  const bench = await serverBench(t, { define: (hp) => void hp.remote.tool({ name: "wire" }) });
  const made = await bench.ask(
    "/api/workflows",
    post({ name: "Trip", executor_id: "far", on_behalf_of: ["person:eve"] }),
  );
  const id = String(made.body["workflow_id"]);
  await bench.ask(`/api/workflows/${id}/start`, post({}));
  const action = await bench.ask(`/api/workflows/${id}/actions`, post({ tool: "wire", args: {} }));
  const stood = await bench.ask(`/api/workflows/${id}/checkpoints`, post({ checkpoint_id: "Plan" }));
  for (const { body, text } of [action, stood]) {
    const decide = (approved_by: string) =>
      bench.ask(
        "/api/approvals/submit",
        post({ request_id: body["approval_id"], decision: "APPROVED", approved_by }),
      );
    assert.equal((await decide("eve")).status, 403, text);
    assert.equal((await decide("ann")).status, 200, text);
  }
});

test("an action under a taken request_id that is done for somebody else is a conflict", async (t) => {
  const bench = await serverBench(t, { define: (hp) => void hp.remote.tool({ name: "wire" }) });
  const wire = { tool: "wire", args: { n: 1 }, agent: "far", request_id: "a", on_behalf_of: ["person:eve"] };
  const propose = (more: object) => bench.ask("/api/actions", post({ ...wire, ...more }));
  const first = await propose({});
  assert.equal((await propose({})).body["action_id"], first.body["action_id"], first.text);
  for (const on_behalf_of of [[], ["person:ann"], ["person:eve", "person:ann"]])
    assert.equal((await propose({ on_behalf_of })).status, 409, JSON.stringify(on_behalf_of));
});
