import { describe, test } from "node:test";
import { EPOCH, epochOpen } from "../../../tests/fixtures/rules.ts";
import {
  CHILD,
  child,
  created,
  creation,
  flow,
  opOf,
  runner,
  started,
  WORKFLOW,
  worldOf,
} from "../../../tests/fixtures/workflow-rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given } from "../../testing/given.ts";
import { type Creation, createWorkflow, spawnChild } from "./create.ts";

const OTHER = "wf_00000000000000000000000009";

function creationWith(more: Partial<Creation> = {}, body: JsonObject = {}): Creation {
  return { workflow: WORKFLOW, requestId: "r", epoch: null, body: creation(body), ...more };
}

const creates =
  (more: Partial<Creation> = {}, body: JsonObject = {}) =>
  (draft: Draft) =>
    createWorkflow(draft, creationWith(more, body));

describe("creating a workflow", () => {
  test("writes what it is, and takes its name", () => {
    const then = given([])
      .when(creates())
      .then([fact(flow, "workflow.created", { name: "deploy" })]);
    then.answers({ kind: "created", workflow: WORKFLOW });
  });

  test("by a process that runs it starts it in the same commit", () => {
    given([epochOpen])
      .when(creates({ epoch: EPOCH }))
      .then([fact(flow, "workflow.created"), fact(flow, "workflow.started", { epoch: EPOCH })]);
  });

  test("under a request id that names it answers the same workflow, for ever", () => {
    const { world } = given([]).when(creates());
    given(world)
      .when(creates({ workflow: OTHER }))
      .then([])
      .answers({ kind: "existing", workflow: WORKFLOW });
    given(world).when(creates()).then([]).answers({ kind: "existing", workflow: WORKFLOW });
  });

  for (const [what, body] of [
    ["another input", { input: { n: 2 } }],
    ["another definition", { name: "other" }],
    ["no approvals of its calls", { approvalRequired: true }],
    ["another budget", { budget: "trip" }],
    ["a definition made for one run", { isOfOneRun: true }],
  ] as const)
    test(`under a request id that names one with ${what} is a conflict, and writes nothing`, () => {
      const { world } = given([]).when(creates());
      given(world)
        .when(creates({ workflow: OTHER }, body))
        .then([])
        .answers({ kind: "conflict", workflow: WORKFLOW });
    });

  test("without a request id is always a new one", () => {
    const { world } = given([]).when(creates({ requestId: null }));
    given(world)
      .when(creates({ requestId: null, workflow: OTHER }))
      .then([fact(workflowStream(OTHER), "workflow.created")]);
  });

  test("with a large input keeps it beside the journal, and compares it all the same", () => {
    const input = { text: "x".repeat(100_000) };
    const { world } = given([]).when(creates({}, { input }));
    given(world)
      .when(creates({ workflow: OTHER }, { input }))
      .then([])
      .answers({ kind: "existing", workflow: WORKFLOW });
  });
});

describe("spawning a child", () => {
  const op = opOf("part");
  const spawns = (written = 0) => {
    const parent = { workflow: WORKFLOW, op };
    const made = creationWith({ workflow: CHILD, requestId: op }, { name: "part", parent });
    const spawn = { op, before: [], creation: made, inputDigest: digestOf({ given: 1 }) };
    return (draft: Draft) => spawnChild(draft, runner(written), spawn);
  };
  const running = [epochOpen, created(), started];

  test("creates it in the commit in which its parent says so", () => {
    given(running)
      .when(spawns())
      .then([
        fact(child, "workflow.created", { name: "part", parent: { workflow: WORKFLOW, op } }),
        fact(flow, "child.spawned", { op, child: CHILD, name: "part", inputDigest: digestOf({ given: 1 }) }),
      ]);
  });

  test("again, after an answer that was lost, spawns nothing", () => {
    const { world } = given(running).when(spawns());
    given(world).when(spawns()).then([]).answers({ kind: "recorded", events: [] });
  });

  for (const status of ["awaiting_approval", "rolling_back", "failed"] as const)
    test(`is turned away while its parent is ${status}`, () => {
      given(worldOf(status)).when(spawns(1)).then([]).answers({ kind: "turned" });
    });
});
