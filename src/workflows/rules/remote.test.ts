import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ANN,
  APPROVAL,
  action,
  applied,
  EPOCH,
  ESCALATE,
  epochOpen,
  proposes,
  rejects,
  SECOND,
  says,
  votes,
} from "../../../tests/fixtures/rules.ts";
import {
  approval,
  created,
  flow,
  reach,
  snapshot,
  started,
  WORKFLOW,
} from "../../../tests/fixtures/workflow-rules.ts";
import { recordReport } from "../../effects/rules/permit.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { type Fact, fact, given, type World } from "../../testing/given.ts";
import { createWorkflow } from "./create.ts";
import { takeRun } from "./lifecycle.ts";
import {
  completeRemoteWorkflow,
  createRemoteWorkflow,
  failRemoteWorkflow,
  type RemoteReach,
  reachRemoteCheckpoint,
  startRemoteWorkflow,
} from "./remote.ts";

const OUTSIDE = { isOutside: true };
const driver = { workflow: WORKFLOW, agent: AGENT };
const begun = (more = {}): readonly Fact[] => [
  created({ ...OUTSIDE, ...more }),
  fact(flow, "workflow.started", { epoch: AGENT }),
];
const starts = (draft: Draft) => startRemoteWorkflow(draft, driver);
const completes = (result: string) => (draft: Draft) => completeRemoteWorkflow(draft, driver, result);
const fails = (draft: Draft) => failRemoteWorkflow(draft, driver, "the API is gone");

function arrival(more: Partial<RemoteReach> = {}): RemoteReach {
  const { body, artifact, ask } = reach();
  const { op: _made, ...facts } = body;
  return { seq: 2, requestId: null, handed: "d1", body: facts, artifact, ask, ...more };
}
const reaches =
  (more: Partial<RemoteReach> = {}) =>
  (draft: Draft) =>
    reachRemoteCheckpoint(draft, driver, arrival(more));
const waitingWorld = (more = {}): World => given(begun(more)).when(reaches({ requestId: "c-1" })).world;

const place = {
  workflow: WORKFLOW,
  op: `${WORKFLOW}/1//refund#1`,
  undoes: null,
  goesOn: false,
  epoch: "",
  rollback: true,
  undo: "agent",
} as const;
const REPORT = { outside: { reportWithinMs: 60 * SECOND } };

describe("a workflow that an agent drives", () => {
  test("is started by that agent, once, and no process takes it up", () => {
    const then = given([created(OUTSIDE)]).when(starts);
    then
      .then([fact(flow, "workflow.started", { epoch: AGENT })])
      .answers({ kind: "done", state: { status: "executing" } });
    given(then.world).when(starts).then([]).answers({ kind: "done" });
    for (const world of [[created(OUTSIDE)], begun()])
      given([epochOpen, ...world])
        .when((draft) => takeRun(draft, { workflow: WORKFLOW, epoch: EPOCH, dead: AGENT }))
        .then([])
        .answers({ kind: "left" });
    assert.equal(
      given([created(OUTSIDE)])
        .when(starts)
        .state(flow).status,
      "executing",
    );
  });

  test("is not ready for anybody, whatever moves", () => {
    const then = given(begun()).when((draft) => draft.append(flow, []));
    assert.partialDeepStrictEqual(then.state(flow), { isReady: false, runner: AGENT });
    assert.partialDeepStrictEqual(
      given([created(OUTSIDE)])
        .when(() => null)
        .state(flow),
      { isReady: false },
    );
  });

  test("is driven by nobody else, and one with a definition by no agent", () => {
    const other = { ...driver, agent: "agent:other" };
    given([created(OUTSIDE)])
      .when((draft) => startRemoteWorkflow(draft, other))
      .then([])
      .answers({ kind: "not_yours" });
    given([created(), started]).when(starts).then([]).answers({ kind: "not_outside" });
    given([]).when(starts).answers({ kind: "unknown" });
  });

  test("refuses and records every move that the states do not allow", () => {
    const refused = (asked: string) => [fact(flow, "workflow.refused", { asked, by: AGENT })];
    given([created(OUTSIDE)])
      .when(completes("x"))
      .then(refused("complete"))
      .answers({ kind: "refused" });
    given([created(OUTSIDE)])
      .when(reaches({ seq: 1 }))
      .then(refused("checkpoint"));
    given(waitingWorld()).when(completes("x")).then(refused("complete"));
    given(waitingWorld()).when(starts).then(refused("start"));
    given(waitingWorld())
      .when(reaches({ body: { ...arrival().body, snapshot: { ...snapshot, id: "snap_2" } } }))
      .then(refused("checkpoint"));
    const over = given(begun()).when(completes("x")).world;
    given(over).when(completes("y")).then(refused("complete"));
    given(over).when(fails).then(refused("fail"));
  });

  test("is completed with its result, and saying so again changes nothing", () => {
    const then = given(begun()).when(completes("x"));
    then.then([fact(flow, "workflow.settling"), fact(flow, "workflow.completed", { result: "x" })]);
    given(then.world)
      .when(completes("x"))
      .then([])
      .answers({ kind: "done", state: { status: "completed" } });
  });

  test("is the same only with the same people, terms and checkpoints under one request id", () => {
    const body = { ...(created(OUTSIDE).body as object), description: "one" };
    const creation = (description: string, workflow: string) =>
      ({ workflow, requestId: "w", epoch: null, body: { ...body, description } }) as never;
    const first = given([]).when((draft) => createRemoteWorkflow(draft, creation("one", WORKFLOW)));
    first.answers({ kind: "created" });
    const again = WORKFLOW.replace(/1$/, "9");
    given(first.world)
      .when((draft) => createRemoteWorkflow(draft, creation("one", again)))
      .then([])
      .answers({ kind: "existing", workflow: WORKFLOW });
    given(first.world)
      .when((draft) => createRemoteWorkflow(draft, creation("two", again)))
      .then([])
      .answers({ kind: "conflict" });
    for (const other of [
      { attempts: 9 },
      { rollbackEnabled: true },
      { onIrreversible: "continue" },
      { requester: [AGENT, "person:eve"] },
      { parties: { poster: "person:eve", executor: null, supervisor: null } },
    ]) {
      const changed = { workflow: again, requestId: "w", epoch: null, body: { ...body, ...other } } as never;
      const then = given(first.world).when((draft) => createRemoteWorkflow(draft, changed));
      then.then([]).answers({ kind: "conflict", workflow: WORKFLOW });
    }
    const own = { workflow: again, requestId: "w", epoch: null, body: created().body } as never;
    given(first.world)
      .when((draft) => createWorkflow(draft, own))
      .answers({ kind: "conflict" });
  });
});

describe("a checkpoint that an agent stands at", () => {
  test("captures, asks people, and what they decide moves the workflow in their own commit", () => {
    const then = given(begun()).when(reaches());
    then.then([
      fact(flow, "checkpoint.reached", { name: "Look" }),
      fact(approval, "approval.requested", { tool: "Look" }),
    ]);
    then.answers({ kind: "waiting", approval: APPROVAL });
    const decided = given(then.world).when(votes(ANN, { edit: { n: 9 }, note: "more" }));
    assert.partialDeepStrictEqual(decided.state(flow), {
      status: "executing",
      isReady: false,
      lastDecision: { decision: "modified", by: [ANN], outputs: { n: 9 } },
    });
  });

  test("is reached once under its request id, whatever became of it since", () => {
    const again = reaches({
      requestId: "c-1",
      body: { ...arrival().body, snapshot: { ...snapshot, id: "snap_2" } },
      seq: 99,
    });
    given(waitingWorld()).when(again).then([]).answers({ kind: "waiting", approval: APPROVAL });
    const approved = given(waitingWorld()).when(votes(ANN)).world;
    given(approved).when(again).then([]).answers({ kind: "passed" });
    const rejected = given(waitingWorld()).when(rejects(ANN)).world;
    given(rejected)
      .when(again)
      .then([])
      .answers({ kind: "decided", state: { status: "rolling_back" } });
    const passed = given(begun()).when(reaches({ requestId: "c-1", ask: null })).world;
    given(passed).when(again).then([]).answers({ kind: "passed", approval: null });
  });

  test("is not another one under its request id: its approval is not that of another name or content", () => {
    const body = { ...arrival().body, snapshot: { ...snapshot, id: "snap_2" } };
    const others = [
      { body: { ...body, name: "Deploy" } },
      { body: { ...body, outputs: { n: 1_000_000 } }, handed: "d2" },
    ];
    const passed = given(begun()).when(reaches({ requestId: "c-1", ask: null })).world;
    const worlds = [passed, waitingWorld(), given(waitingWorld()).when(votes(ANN)).world];
    for (const world of [...worlds, given(waitingWorld()).when(rejects(ANN)).world])
      for (const other of others)
        given(world)
          .when(reaches({ requestId: "c-1", seq: 99, ...other }))
          .then([fact(flow, "workflow.refused", { asked: "checkpoint", by: AGENT })])
          .answers({ kind: "conflict", name: "Look" });
  });

  test("of a journal that has no digest of what was handed over is known by its name and outputs", () => {
    const facts = waitingWorld().facts.map((one) => {
      const { handed: _since, ...body } = one.body as JsonObject;
      return { ...one, body };
    });
    const approved = given({ ...waitingWorld(), facts }).when(votes(ANN)).world;
    const body = { ...arrival().body, snapshot: { ...snapshot, id: "snap_2" } };
    const again = { requestId: "c-1", seq: 99, body, handed: "d2" };
    given(approved).when(reaches(again)).then([]).answers({ kind: "passed", name: "Look" });
    for (const other of [
      { ...body, name: "Deploy" },
      { ...body, outputs: { n: 2 } },
    ])
      given(approved)
        .when(reaches({ ...again, body: other }))
        .answers({ kind: "conflict" });
  });

  test("whose commit was not heard of is found by its snapshot", () => {
    const then = given(begun()).when(reaches());
    given(then.world).when(reaches()).then([]).answers({ kind: "waiting", approval: APPROVAL });
  });

  test("is looked at again where something was written since", () => {
    given(begun())
      .when(reaches({ seq: 1 }))
      .then([])
      .answers({ kind: "moved" });
  });
});

describe("an action in it", () => {
  const world = given([epochOpen, ...begun()]).when(proposes(REPORT, { placement: place })).world;

  test("stands in the workflow's stream too, with how it is undone", () => {
    given([epochOpen, ...begun()])
      .when(proposes(REPORT, { placement: place }))
      .answers({ answer: { kind: "started" } });
    assert.partialDeepStrictEqual(world.facts.find(({ type }) => type === "call.made")?.body, {
      undo: "agent",
    });
  });

  test("is proposed by no other agent, and not while a checkpoint waits", () => {
    const other = { placement: place, agent: "agent:other", requester: ["agent:other"] };
    given([epochOpen, ...begun()])
      .when(proposes(REPORT, other))
      .then([])
      .answers({ kind: "turned" });
    const waiting = { ...waitingWorld(), facts: [epochOpen, ...waitingWorld().facts] };
    given(waiting)
      .when(proposes(REPORT, { placement: place }))
      .then([])
      .answers({ kind: "turned" });
  });

  test("keeps the workflow from completing until it was reported", () => {
    given(world)
      .when(completes("x"))
      .answers({ kind: "refused", reason: `${ACTION} has not ended` });
    const reported = given(world).when((draft) =>
      recordReport(draft, { action: ACTION, agent: AGENT, report: applied() }),
    );
    reported.then([fact(action, "effect.applied"), fact(flow, "call.settled", { action: ACTION })]);
    given(reported.world).when(completes("x")).answers({ kind: "done" });
  });

  test("that was refused has ended, and the workflow is told with its completion", () => {
    const asked = given([epochOpen, ...begun()]).when(
      proposes({ ...REPORT, policy: says(ESCALATE) }, { placement: place }),
    ).world;
    given(asked).when(completes("x")).answers({ kind: "refused" });
    const refused = given(asked).when(rejects(ANN)).world;
    given(refused)
      .when(completes("x"))
      .then([
        fact(flow, "call.settled", { action: ACTION }),
        fact(flow, "workflow.settling"),
        fact(flow, "workflow.completed"),
      ]);
  });
});

describe("a workflow that its agent gives up", () => {
  test("has failed, and its question is withdrawn", () => {
    given(begun())
      .when(fails)
      .then([fact(flow, "workflow.failed", { code: "error", by: AGENT })]);
    const then = given(waitingWorld()).when(fails);
    assert.partialDeepStrictEqual(then.state(approval), { status: "cancelled" });
    given(then.world)
      .when(fails)
      .then([])
      .answers({ kind: "done", state: { status: "failed" } });
  });

  test("goes back first where it was created so, and is not broken off there", () => {
    const then = given(begun({ rollbackEnabled: true })).when(fails);
    then.then([fact(flow, "rollback.began", { after: "fail", by: "workflow" })]);
    given(then.world).when(fails).then([]).answers({ kind: "done" });
    given(then.world)
      .when((draft) => failRemoteWorkflow(draft, driver, "something else"))
      .then([fact(flow, "workflow.refused", { asked: "fail" })]);
  });
});
