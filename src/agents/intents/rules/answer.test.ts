import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import {
  ask,
  DOER,
  INTENT,
  intent,
  listed,
  SENDER,
  sentWorld,
  supervisor,
  suspended,
  toPeople,
} from "../../../../tests/fixtures/intent-rules.ts";
import { ANN, BOB, epochOpen } from "../../../../tests/fixtures/rules.ts";
import { created, opOf, WORKFLOW } from "../../../../tests/fixtures/workflow-rules.ts";
import { runs } from "../../../../tests/properties/runs.ts";
import type { Draft, Need } from "../../../kernel/transaction.ts";
import { fact, given, NOON, type World } from "../../../testing/given.ts";
import {
  answerByOutcome,
  answerIntent,
  cancelIntent,
  type IntentMove,
  markAcknowledged,
  markDelivered,
  markWaiting,
  timeOutIntentIfDue,
} from "./answer.ts";
import { sendIntent } from "./send.ts";

const doer = { intent: INTENT, by: DOER };
const done = { ...doer, status: "completed", data: { sorted: 12 } } as const;
const failed = { ...doer, status: "failed", reason: "no mail" } as const;
const delivered = fact(intent, "intent.delivered", { to: DOER });
const acknowledged = fact(intent, "intent.acknowledged", { by: DOER });

describe("the life of an intent", () => {
  test("it is delivered once, however often it is handed over", () => {
    const first = given(sentWorld()).when((draft) => markDelivered(draft, INTENT));
    first.then([delivered]).answers({ status: "delivered" });
    given(first.world)
      .when((draft) => markDelivered(draft, INTENT))
      .then([]);
  });

  test("it is acknowledged, waits for something, and is completed", () => {
    const taken = given(sentWorld()).when((draft) => markAcknowledged(draft, doer));
    taken.then([delivered, acknowledged]);
    given(taken.world)
      .when((draft) => markAcknowledged(draft, doer))
      .then([])
      .answers({ kind: "same" });
    const waits = given(taken.world).when((draft) => markWaiting(draft, { ...doer, on: "int_9" }));
    waits.then([fact(intent, "intent.waiting", { on: "int_9" })]);
    given(waits.world)
      .when((draft) => answerIntent(draft, done))
      .then([fact(intent, "intent.completed", { by: DOER, data: { sorted: 12 } })]);
  });

  test("whoever answers at once has it: the receipt is recorded first", () => {
    given(sentWorld())
      .when((draft) => answerIntent(draft, failed))
      .then([delivered, acknowledged, fact(intent, "intent.failed", { reason: "no mail" })]);
  });

  test("the first of two answers stands; the same again answers the same", () => {
    const { world } = given(sentWorld()).when((draft) => answerIntent(draft, done));
    given(world)
      .when((draft) => answerIntent(draft, done))
      .then([])
      .answers({ kind: "same", status: "completed" });
    for (const other of [failed, { ...done, data: { sorted: 13 } }, { ...done, by: ANN }])
      given(world)
        .when((draft) => answerIntent(draft, other))
        .then([fact(intent, "intent.refused", { status: "completed" })])
        .answers({ kind: "refused", code: "wrong_state" });
  });

  test("another agent does not speak for the recipient, nor the sender; a person may", () => {
    for (const by of [SENDER, "agent:else", "service:x"])
      given(sentWorld())
        .when((draft) => answerIntent(draft, { ...done, by }))
        .then([fact(intent, "intent.refused", { by })])
        .answers({ kind: "refused", code: "not_eligible" });
    given(sentWorld())
      .when((draft) => answerIntent(draft, { ...done, by: ANN }))
      .answers({ kind: "done" });
    const world = sentWorld();
    given({ ...world, facts: [...world.facts, suspended(ANN)] })
      .when((draft) => answerIntent(draft, { ...done, by: ANN }))
      .answers({ kind: "refused", code: "not_eligible" });
  });

  test("a service answers what is for it, and so does a person, for whom no other person speaks", () => {
    for (const to of ["service:billing", ANN]) {
      const world = sentWorld({ to, toAgent: to });
      const answer = { ...done, by: to };
      given(world)
        .when((draft) => answerIntent(draft, answer))
        .answers({ kind: "done", status: "completed" });
      given(world)
        .when((draft) => answerIntent(draft, { ...answer, by: DOER }))
        .answers({ kind: "refused", code: "not_eligible" });
    }
    for (const say of [answerIntent, markAcknowledged] as const)
      given(sentWorld({ to: ANN, toAgent: ANN }))
        .when((draft) => say(draft, { ...done, by: BOB }))
        .answers({ kind: "refused", code: "not_eligible" });
  });

  test("what people are to approve is taken back by its sender or an admin, where there is a list of people", () => {
    const said = { intent: INTENT, reason: "not needed" };
    const start = given([supervisor(ANN), listed(BOB, "poster"), listed("person:adm", "admin")]);
    const { world } = start.when((draft) => sendIntent(draft, toPeople()));
    for (const by of [BOB, ANN, "person:nobody"])
      given(world)
        .when((draft) => cancelIntent(draft, { ...said, by }))
        .then([fact(intent, "intent.refused", { asked: "cancel", by })])
        .answers({ kind: "refused", code: "not_eligible" });
    for (const by of [SENDER, "person:adm"])
      given(world)
        .when((draft) => cancelIntent(draft, { ...said, by }))
        .answers({ kind: "done", status: "cancelled" });
    const own = start.when((draft) =>
      sendIntent(draft, toPeople({ from: BOB, ask: { ...ask, requester: [BOB] } })),
    );
    given(own.world)
      .when((draft) => cancelIntent(draft, { ...said, by: BOB }))
      .answers({ kind: "done", status: "cancelled" });
  });

  test("and by a party to the workflow that sent it", () => {
    const parties = { poster: BOB, executor: null };
    const within = { workflow: WORKFLOW, op: opOf("ask") };
    const flowOf = [created({ parties })].map((one) => ({ ...one, at: NOON }));
    const start = given([
      epochOpen,
      ...flowOf,
      supervisor(ANN),
      listed(BOB, "poster"),
      listed("person:cat", "poster"),
    ]);
    const { world } = start.when((draft) => sendIntent(draft, toPeople({ within })));
    const cancels = (by: string) => (draft: Draft) =>
      cancelIntent(draft, { intent: INTENT, reason: "not needed", by });
    given(world).when(cancels("person:cat")).answers({ kind: "refused", code: "not_eligible" });
    given(world).when(cancels(BOB)).answers({ kind: "done", status: "cancelled" });
  });

  test("the sender takes it back, the recipient does not", () => {
    const said = { intent: INTENT, reason: "changed my mind" };
    given(sentWorld())
      .when((draft) => cancelIntent(draft, { ...said, by: DOER }))
      .answers({ kind: "refused", code: "not_eligible" });
    const { world } = given(sentWorld()).when((draft) => cancelIntent(draft, { ...said, by: SENDER }));
    given(world)
      .when((draft) => cancelIntent(draft, { ...said, by: SENDER }))
      .then([])
      .answers({ kind: "same" });
    given(world)
      .when((draft) => answerIntent(draft, done))
      .answers({ kind: "refused", status: "cancelled" });
  });

  test("its deadline is looked at by whoever decides, whether anybody has swept or not", () => {
    const world = sentWorld({ withinMs: 1_000 });
    const timedOut = fact(intent, "intent.timed_out", { deadline: NOON + 1_000 });
    given(world, { now: NOON + 999 })
      .when((draft) => timeOutIntentIfDue(draft, INTENT))
      .then([]);
    given(world, { now: NOON + 1_000 })
      .when((draft) => timeOutIntentIfDue(draft, INTENT))
      .then([timedOut])
      .answers({ status: "timed_out" });
    given(world, { now: NOON + 1_000 })
      .when((draft) => answerIntent(draft, done))
      .then([timedOut, fact(intent, "intent.refused", { status: "timed_out" })]);
  });

  test("nobody speaks for one that there is not", () => {
    given([])
      .when((draft) => markAcknowledged(draft, doer))
      .then([])
      .answers({ kind: "unknown" });
  });
});

/** What may come of it, told without any of the rules: a table of who may do what where. */
type Step = { readonly verb: string; readonly by: string };

const OPEN = ["created", "delivered", "acknowledged", "waiting"];

function modelled(status: string, { verb, by }: Step, late: boolean): string {
  if (!OPEN.includes(status)) return status;
  if (late) return "timed_out";
  if (verb === "deliver") return status === "created" ? "delivered" : status;
  if (verb === "cancel") return by === SENDER || by === ANN ? "cancelled" : status;
  if (by !== DOER && by !== ANN) return status;
  if (verb === "acknowledge") return status === "created" || status === "delivered" ? "acknowledged" : status;
  return verb;
}

function ruled(draft: Draft, { verb, by }: Step): Need | IntentMove | { readonly status: string } {
  const speaker = { intent: INTENT, by };
  switch (verb) {
    case "deliver":
      return markDelivered(draft, INTENT);
    case "acknowledge":
      return markAcknowledged(draft, speaker);
    case "waiting":
      return markWaiting(draft, { ...speaker, on: "int_9" });
    case "cancel":
      return cancelIntent(draft, { ...speaker, reason: "enough" });
    case "completed":
      return answerIntent(draft, { ...speaker, status: "completed", data: {} });
    default:
      return answerIntent(draft, { ...speaker, status: "failed", reason: "no" });
  }
}

describe("the life cycle against a table", () => {
  test("whatever is asked in whatever order, it stands where the table says, and ends once", () => {
    const step = fc.record({
      verb: fc.constantFrom("deliver", "acknowledge", "waiting", "cancel", "completed", "failed"),
      by: fc.constantFrom(DOER, SENDER, ANN, "agent:else"),
    });
    const ends = ["intent.completed", "intent.failed", "intent.timed_out", "intent.cancelled"];
    void fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.nat(14), (steps, lateFrom) => {
        let world: World = sentWorld({ withinMs: 1_000 });
        let status = "created";
        for (const [index, one] of steps.entries()) {
          const late = index >= lateFrom;
          status = modelled(status, one, late);
          const then = given(world, { now: late ? NOON + 1_000 : NOON }).when((draft) => ruled(draft, one));
          world = then.world;
          if (then.state(intent).status !== status) return false;
        }
        return world.facts.filter(({ type }) => ends.includes(type)).length <= 1;
      }),
      runs(300),
    );
  });
});

describe("what a workflow asks its agent to undo", () => {
  const world = sentWorld({ intentType: "compensation", from: `service:${WORKFLOW}`, correlation: WORKFLOW });
  const answering = { intent: INTENT, by: DOER, status: "completed", data: { done: 1 } } as const;

  test("is not answered by hand, by its agent or a person, which would leave nobody told of it", () => {
    for (const by of [DOER, ANN])
      for (const said of [answering, { intent: INTENT, status: "failed", reason: "no" } as const]) {
        const then = given(world).when((draft) => answerIntent(draft, { ...said, by }));
        then.then([fact(intent, "intent.refused")]).answers({ kind: "refused", code: "wrong_state" });
        assert.match(JSON.stringify(then.answer), new RegExp(`start the compensation in ${WORKFLOW}`));
      }
  });

  test("is not cancelled by hand either", () => {
    given(world)
      .when((draft) => cancelIntent(draft, { intent: INTENT, by: ANN, reason: "x" }))
      .answers({ kind: "refused", code: "wrong_state" });
  });

  test("is acknowledged by its agent, and answered by the outcome", () => {
    const taken = given(world).when((draft) => markAcknowledged(draft, { intent: INTENT, by: DOER }));
    taken.answers({ kind: "done" });
    given(taken.world)
      .when((draft) => answerByOutcome(draft, answering))
      .answers({ kind: "done", status: "completed" });
  });
});
