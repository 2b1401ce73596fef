import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ANN,
  comesBack,
  EPOCH,
  epochDied,
  epochOpen,
  executor,
  NEXT_EPOCH,
  nextEpochOpen,
  proposal,
} from "../../tests/fixtures/rules.ts";
import {
  CHILD,
  child,
  created,
  creation,
  flow,
  opOf,
  started,
  WORKFLOW,
} from "../../tests/fixtures/workflow-rules.ts";
import { askForPermit } from "../effects/rules/permit.ts";
import { propose } from "../effects/rules/propose.ts";
import { admitSend, takeOver } from "../effects/rules/recover.ts";

import { agentScope, switchStream } from "../kernel/stream.ts";
import type { Draft } from "../kernel/transaction.ts";
import { type Fact, fact, given, type World } from "../testing/given.ts";
import { workflowScope } from "./stream.ts";

const word = { by: ANN, reason: "drill" };
const stopped = (workflow: string): Fact =>
  fact(switchStream(workflowScope(workflow)), "switch.stopped", word);
const released = (workflow: string): Fact =>
  fact(switchStream(workflowScope(workflow)), "switch.released", word);
const and = (world: World, ...facts: readonly Fact[]): World => ({
  ...world,
  facts: [...world.facts, ...facts],
});

const place = (workflow: string) => ({
  ...{ workflow, op: opOf("refund").replace(WORKFLOW, workflow) },
  ...{ undoes: null, goesOn: false, epoch: EPOCH, rollback: true },
});
const calls =
  (workflow = WORKFLOW, bending: Parameters<typeof executor>[0] = {}) =>
  (draft: Draft) =>
    propose(draft, proposal({ placement: place(workflow), executor: executor(bending) }));
const running = [epochOpen, created(), started];
const below = [
  ...running,
  fact(child, "workflow.created", creation({ parent: { workflow: WORKFLOW, op: opOf("child") } })),
  fact(child, "workflow.started", { epoch: EPOCH }),
];
const HELD = {
  answer: { kind: "held", refusal: { code: "stopped", by: `kill switch (workflow:${WORKFLOW})` } },
};

describe("the kill switch of one workflow", () => {
  test("holds what that workflow calls, until it is released", () => {
    const held = given([...running, stopped(WORKFLOW)]).when(calls());
    held.answers(HELD);
    assert.ok(!held.appended.some(({ type }) => type === "effect.started"));
    given(held.world).when(comesBack()).answers({ kind: "held" });
    given(and(held.world, released(WORKFLOW)))
      .when(comesBack())
      .answers({ kind: "started" });
  });

  test("holds what the workflows below it call, and nothing of the one above", () => {
    given([...below, stopped(WORKFLOW)])
      .when(calls(CHILD))
      .answers(HELD);
    given([...below, stopped(CHILD)])
      .when(calls())
      .answers({ answer: { kind: "started" } });
  });

  test("holds what is far below it, in as many looks as right below it", () => {
    const between = Array.from({ length: 20 }, (_, at) => `wf_between_${at}`);
    const parent = { workflow: between[0] ?? "", op: "x", above: [...between.slice(1), WORKFLOW] };
    const deep = [epochOpen, fact(child, "workflow.created", creation({ parent }))];
    const world = [...deep, fact(child, "workflow.started", { epoch: EPOCH })];
    given([...world, stopped(WORKFLOW)])
      .when(calls(CHILD))
      .answers(HELD);
    given(world)
      .when(calls(CHILD))
      .answers({ answer: { kind: "started" } });
  });

  test("does not hold what is called elsewhere, or outside of any workflow", () => {
    const other = fact(switchStream(workflowScope("wf_other")), "switch.stopped", word);
    given([...running, other])
      .when(calls())
      .answers({ answer: { kind: "started" } });
    given([epochOpen, stopped(WORKFLOW)])
      .when((draft) => propose(draft, proposal({ executor: executor() })))
      .answers({ answer: { kind: "started" } });
  });

  test("keeps an effect that was started from being sent: it certainly did nothing", () => {
    const world = and(given(running).when(calls()).world, stopped(WORKFLOW));
    const sends = (draft: Draft) => admitSend(draft, { action: ACTION, epoch: EPOCH, isLeft: () => false });
    const then = given(world).when(sends);
    then.answers({ kind: "left", state: { phase: "not_applied" } });
    assert.match(JSON.stringify(then.appended), new RegExp(`kill switch \\(workflow:${WORKFLOW}\\)`));
  });

  test("keeps an effect from being sent again after a crash", () => {
    const world = given(running).when(calls(WORKFLOW, { effectClass: "idempotent" })).world;
    const dead = and(world, epochDied, nextEpochOpen);
    const tool = { keyRetentionMs: 60_000 };
    const again = (draft: Draft) =>
      takeOver(draft, { action: ACTION, epoch: NEXT_EPOCH, reason: "its process is gone", tool });
    given(dead).when(again).answers({ kind: "retry" });
    given(and(dead, stopped(WORKFLOW)))
      .when(again)
      .answers({ kind: "left" });
  });

  test("keeps a permit from being handed out a second time", () => {
    const outside = [
      epochOpen,
      created({ isOutside: true, agent: AGENT }),
      fact(flow, "workflow.started", { epoch: AGENT }),
    ];
    const asker = { holder: "digest", begin: false, ask: "non_1" };
    const permit = given(outside).when(calls(WORKFLOW, { outside: { reportWithinMs: 60_000, asker } }));
    permit.answers({ answer: { kind: "started" } });
    const again = { ...asker, begin: true, ask: "non_2", action: ACTION, keyRetentionMs: 0 };
    const looks = (draft: Draft) => askForPermit(draft, again);
    given(permit.world).when(looks).answers({ kind: "permitted" });
    given(and(permit.world, stopped(WORKFLOW)))
      .when(looks)
      .answers({ kind: "held", refusal: { code: "stopped", by: `kill switch (workflow:${WORKFLOW})` } });
  });
});

test("the kill switch of a service is its own, and not that of an agent with such a name", () => {
  assert.equal(agentScope("service:clock"), "service:clock");
  const at = (scope: string): Fact => fact(switchStream(scope), "switch.stopped", word);
  const clock = { agent: "service:clock", requester: ["service:clock"] };
  const asks = (draft: Draft) => propose(draft, proposal({ ...clock, executor: executor() }));
  given([epochOpen, at("service:clock")])
    .when(asks)
    .answers({ answer: { kind: "held", refusal: { by: "kill switch (service:clock)" } } });
  given([epochOpen, at("agent:clock")])
    .when(asks)
    .answers({ answer: { kind: "started" } });
});
