import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AGENT, ANN, EPOCH, epochOpen } from "../../../tests/fixtures/rules.ts";
import { created, creation, flow, started, WORKFLOW } from "../../../tests/fixtures/workflow-rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given, type World } from "../../testing/given.ts";
import { type Creation, createWorkflow, requestWorkflow } from "./create.ts";
import { type Defining, takeRun } from "./lifecycle.ts";

const OTHER = "wf_00000000000000000000000009";

function creationWith(more: Partial<Creation> = {}, body: JsonObject = {}): Creation {
  return {
    workflow: WORKFLOW,
    requestId: "r",
    epoch: null,
    body: creation({ requester: [], ...body }),
    ...more,
  };
}

const requests =
  (more: Partial<Creation> = {}, body: JsonObject = {}) =>
  (draft: Draft) =>
    requestWorkflow(draft, creationWith(more, body), { by: ANN, via: "api_key" });

const asked = (): World => given([epochOpen]).when(requests()).world;

const takes = (defining?: Defining) => (draft: Draft) =>
  takeRun(draft, {
    ...{ workflow: WORKFLOW, epoch: EPOCH, dead: null },
    ...(defining === undefined ? {} : { defining }),
  });

function fits(more: JsonObject = {}): Defining {
  const { name: _n, parent: _p, fork: _f, ...body } = creation({ attempts: 7, ...more });
  return { kind: "fits", body };
}
const UNFIT: Defining = { kind: "unfit", code: "invalid_args", reason: "n is no number", by: AGENT };

describe("asking for a workflow by its name", () => {
  test("writes that it exists, and who asked", () => {
    given([])
      .when(requests())
      .then([
        fact(flow, "workflow.created", { name: "deploy" }),
        fact(flow, "workflow.requested", { by: ANN, via: "api_key", given: digestOf({ n: 1 }) }),
      ])
      .answers({ kind: "created", workflow: WORKFLOW });
  });

  test("again under the same request id answers the same, before and after its definition has spoken", () => {
    const again = requests({ workflow: OTHER });
    given(asked()).when(again).then([]).answers({ kind: "existing", workflow: WORKFLOW });
    const begun = given(asked()).when(takes(fits({ input: { n: 1, by: "default" } }))).world;
    given(begun).when(again).then([]).answers({ kind: "existing", workflow: WORKFLOW });
  });

  for (const [what, body] of [
    ["another input", { input: { n: 2 } }],
    ["another definition", { name: "other" }],
    ["people to be asked about every call", { approvalRequired: true }],
    ["another budget", { budget: "trip" }],
    ["somebody for whom it is not done", { requester: ["person:eve"] }],
  ] as const)
    test(`under a request id that names one with ${what} is a conflict`, () => {
      given(asked())
        .when(requests({ workflow: OTHER }, body))
        .then([])
        .answers({ kind: "conflict", workflow: WORKFLOW });
    });

  test("under the request id of one that a program has started is the same workflow", () => {
    const { world } = given([]).when((draft) =>
      createWorkflow(draft, creationWith({}, { requester: [AGENT] })),
    );
    given(world)
      .when(requests({ workflow: OTHER }))
      .then([])
      .answers({ kind: "existing", workflow: WORKFLOW });
  });

  test("is refused in a tenant that was closed", () => {
    const shut = [fact({ kind: "tenant", id: "acme" }, "tenant.closed", { by: ANN, reason: "moved" })];
    given(shut).when(requests()).then([]).answers({ kind: "closed" });
  });
});

describe("a workflow that was asked for by its name", () => {
  test("does not begin before its definition has said what it adds", () => {
    given(asked()).when(takes()).then([]).answers({ kind: "undefined" });
  });

  test("begins in the commit that says so, as what the definition makes of it", () => {
    const then = given(asked())
      .when(takes(fits({ input: { n: 1, by: "default" }, agent: "agent:worker" })))
      .then([
        fact(flow, "workflow.defined", { attempts: 7, agent: "agent:worker" }),
        fact(flow, "workflow.started", { epoch: EPOCH }),
      ]);
    then.answers({ kind: "taken", state: { status: "executing", attempts: 7, agent: "agent:worker" } });
    assert.deepEqual(then.answer.kind === "taken" && then.answer.state.input, { n: 1, by: "default" });
  });

  test("is defined once: whoever takes it later finds it so", () => {
    const begun = given(asked()).when(takes(fits())).world;
    given(begun)
      .when(takes(fits({ attempts: 9 })))
      .then([])
      .answers({ kind: "taken", state: { attempts: 7 } });
  });

  test("whose input does not fit fails with the reason, and never begins", () => {
    given(asked())
      .when(takes(UNFIT))
      .then([fact(flow, "workflow.failed", { code: "invalid_args", reason: "n is no number", by: AGENT })])
      .answers({ kind: "left", state: { status: "failed" } });
  });

  test("that was cancelled meanwhile is not defined any more", () => {
    const cancelled = { code: "cancelled", reason: "no", by: ANN, report: null };
    const world = asked();
    const facts = [...world.facts, fact(flow, "workflow.failed", cancelled)];
    given({ ...world, facts })
      .when(takes(fits()))
      .then([])
      .answers({ kind: "left" });
  });

  test("keeps what it was asked for with as its own beside what the definition made of the input", () => {
    const begun = given(asked()).when(takes(fits({ input: { n: 1, by: "default" } }))).world;
    const state = given(begun)
      .when(() => undefined)
      .state(flow);
    assert.partialDeepStrictEqual(state, {
      input: { n: 1, by: "default" },
      requested: { by: ANN, given: digestOf({ n: 1 }), isDefined: true },
    });
  });

  test("cannot be defined where nobody asked by name, nor twice", () => {
    const { name: _n, parent: _p, fork: _f, ...body } = creation();
    const defined = fact(flow, "workflow.defined", body);
    const look = () => undefined;
    assert.throws(() => given([created(), defined]).when(look).state(flow), { code: "broken_rule" });
    const begun = given(asked()).when(takes(fits())).world;
    const twice = { ...begun, facts: [...begun.facts, defined] };
    assert.throws(() => given(twice).when(look).state(flow), { code: "broken_rule" });
  });

  test("that a program had started is taken as ever", () => {
    given([epochOpen, created(), started]).when(takes(fits())).then([]).answers({ kind: "taken" });
    assert.equal(workflowStream(WORKFLOW).id, WORKFLOW);
  });
});
