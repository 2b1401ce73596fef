import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ANN,
  action,
  add,
  agentSwitch,
  applied,
  type Bending,
  comesBack,
  EFFECT,
  ESCALATE,
  epochOpen,
  limited,
  proposes,
  SECOND,
  says,
  stopped,
  types,
  usd,
  voted,
} from "../../../tests/fixtures/rules.ts";
import { budgetStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { EffectClass } from "../../policy/rules/tool-rules.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import { askForPermit, type PermitAsk, recordReport } from "./permit.ts";

const REPORT_MS = 60 * SECOND;
const LATE = NOON + REPORT_MS;
const [MINE, OTHERS] = ["digest of mine", "digest of another's"];

const outside = (asker: Partial<PermitAsk> = {}) => ({
  reportWithinMs: REPORT_MS,
  asker: { holder: MINE, begin: false, ask: "non_first", ...asker },
});

/** The world after the permit was issued to a holder, and perhaps begun. */
function issued(asker: Partial<PermitAsk> = {}, bending: Bending = {}): World {
  return given([epochOpen]).when(proposes({ outside: outside(asker), ...bending })).world;
}
const begun = (effectClass: EffectClass = "once", bending: Bending = {}): World =>
  issued({ begin: true }, { effectClass, ...bending });
const withoutHolder = (effectClass: EffectClass = "once"): World => issued({ holder: null }, { effectClass });

const asks =
  (more: Partial<PermitAsk> = {}) =>
  (draft: Draft) =>
    askForPermit(draft, {
      action: ACTION,
      holder: MINE,
      begin: false,
      ask: "non_second",
      keyRetentionMs: 30 * SECOND,
      ...more,
    });
const begins = (more: Partial<PermitAsk> = {}) => asks({ begin: true, ...more });
const reports = (report: Parameters<typeof recordReport>[1]["report"]) => (draft: Draft) =>
  recordReport(draft, { action: ACTION, agent: AGENT, report });

describe("a permit that was issued and not begun", () => {
  test("names its holder by a digest, and says that it was handed out once", () => {
    const then = given([epochOpen]).when(proposes({ outside: outside() }));
    assert.deepEqual(types(then), ["action.proposed", "action.reviewed", "effect.started"]);
    assert.partialDeepStrictEqual(then.appended[2]?.body, { epoch: AGENT, reportBy: LATE, holder: MINE });
    then.answers({ answer: { state: { effect: { permit: { isBegun: false, handedOut: 1 } } } } });
  });

  test("is handed out to the same holder again, and nothing is recorded", () => {
    given(issued())
      .when(asks())
      .then([])
      .answers({
        kind: "permitted",
        state: { effect: { id: EFFECT, permit: { isBegun: false, handedOut: 1 } } },
      });
  });

  test("is pending for another holder and for an agent without one, for the permit and for a begin", () => {
    for (const ask of [asks({ holder: OTHERS }), asks({ holder: null }), begins({ holder: OTHERS })])
      given(issued()).when(ask).then([]).answers({ kind: "pending", reportBy: LATE });
  });

  test("is pending for another holder while a kill switch is on too: that one has nothing to report", () => {
    given(add(issued(), stopped(agentSwitch)))
      .when(asks({ holder: OTHERS }))
      .then([])
      .answers({ kind: "pending" });
  });

  test("is begun by its holder, once", () => {
    given(issued())
      .when(begins())
      .then([fact(action, "effect.begun", { holder: MINE, ask: "non_second" })])
      .answers({ kind: "permitted", state: { effect: { permit: { isBegun: true, handedOut: 1 } } } });
  });

  test("is begun in the commit that issues it where the holder asks for that", () => {
    const then = given([epochOpen]).when(proposes({ outside: outside({ begin: true }) }));
    assert.deepEqual(types(then).slice(2), ["effect.started", "effect.begun"]);
    then.answers({ answer: { kind: "started", state: { effect: { permit: { isBegun: true } } } } });
  });

  test("is not begun while the kill switch is on, and stays what it is", () => {
    given(add(issued(), stopped(agentSwitch)))
      .when(begins())
      .then([])
      .answers({ kind: "held", refusal: { code: "stopped" } });
  });

  test("is not begun after the time in which it may run", () => {
    const policy = says({ ...ESCALATE, executeWithinMs: 30 * SECOND } as typeof ESCALATE);
    const bending = { policy, outside: outside() };
    const open = given([epochOpen]).when(proposes(bending)).world;
    const started = given(voted(open, ANN)).when(comesBack(bending)).world;
    given(started, { now: NOON + 29 * SECOND })
      .when(begins())
      .answers({ kind: "permitted" });
    given(started, { now: NOON + 31 * SECOND })
      .when(begins())
      .then([])
      .answers({ kind: "held", refusal: { code: "lapsed" } });
  });

  test("can be given back, and a report that it was applied is not lost", () => {
    given(issued())
      .when(reports({ status: "not_applied", reason: "changed my mind" }))
      .answers({ kind: "recorded", state: { phase: "not_applied" } });
    given(issued())
      .when(reports(applied({ id: 7 })))
      .answers({ kind: "recorded", state: { phase: "applied" } });
  });

  test("is in doubt when its time to report has passed: an agent may have ignored the rule", () => {
    given(issued(), { now: LATE })
      .when(begins())
      .then([fact(action, "effect.in_doubt", { by: "deadline" })])
      .answers({ kind: "settled", state: { phase: "in_doubt" } });
  });
});

describe("a permit that was begun and is asked for again", () => {
  const ASKED = "its permit was asked for again after it was begun";

  test("puts a once effect in doubt, by its holder, without one, and by a repeated begin", () => {
    for (const ask of [asks(), asks({ holder: null }), begins()]) {
      const then = given(begun()).when(ask);
      then
        .then([fact(action, "effect.in_doubt", { by: "permit", attempt: 1 })])
        .answers({ kind: "doubted", state: { phase: "in_doubt" } });
      assert.match(String(then.appended[0]?.body["reason"]), new RegExp(ASKED));
      given(then.world)
        .when(ask)
        .then([])
        .answers({ kind: "settled", state: { phase: "in_doubt" } });
    }
  });

  test("is pending for another holder, which never puts an effect in doubt that may be under way", () => {
    for (const effectClass of ["once", "probed"] as const)
      given(begun(effectClass))
        .when(asks({ holder: OTHERS }))
        .then([])
        .answers({ kind: "pending", reportBy: LATE });
    given(begun("keyed"), { now: NOON + 30 * SECOND })
      .when(begins({ holder: OTHERS }))
      .then([])
      .answers({ kind: "pending" });
    given(withoutHolder())
      .when(asks({ holder: OTHERS }))
      .then([])
      .answers({ kind: "pending" });
  });

  test("counts as begun from the start where it has no holder, as permits of older journals do", () => {
    given(withoutHolder())
      .when(asks({ holder: null }))
      .then([fact(action, "effect.in_doubt", { by: "permit" })])
      .answers({ kind: "doubted" });
    const older = given([epochOpen]).when(proposes({ outside: { reportWithinMs: REPORT_MS } }));
    assert.deepEqual(Object.hasOwn(older.appended[2]?.body ?? {}, "ask"), false);
    given(older.world)
      .when(asks({ holder: null }))
      .answers({ kind: "doubted" });
  });

  test("is handed out again where the class allows it, to everybody, and each time is recorded", () => {
    for (const effectClass of ["read", "idempotent", "keyed"] as const) {
      const second = given(begun(effectClass)).when(asks({ holder: OTHERS }));
      second
        .then([fact(action, "effect.handed_out", { times: 2, holder: OTHERS, ask: "non_second" })])
        .answers({ kind: "permitted", state: { effect: { permit: { handedOut: 2, isBegun: true } } } });
      given(second.world)
        .when(asks({ holder: null, ask: "non_third" }))
        .then([fact(action, "effect.handed_out", { times: 3 })]);
    }
  });

  test("of a keyed tool is handed out again only while the receiver remembers the key", () => {
    given(begun("keyed"), { now: NOON + 29 * SECOND })
      .when(asks())
      .answers({ kind: "permitted" });
    given(begun("keyed"), { now: NOON + 30 * SECOND })
      .when(asks())
      .then([fact(action, "effect.in_doubt", { by: "permit" })])
      .answers({ kind: "doubted" });
  });

  test("puts a probed effect in doubt, so that it is probed", () => {
    given(begun("probed"))
      .when(asks())
      .answers({ kind: "doubted", state: { phase: "in_doubt" } });
  });

  test("is held while the kill switch is on, and stays what it is", () => {
    for (const effectClass of ["once", "idempotent"] as const)
      given(add(begun(effectClass), stopped(agentSwitch)))
        .when(asks())
        .then([])
        .answers({ kind: "held", refusal: { code: "stopped" } });
  });

  test("keeps the money reserved, and the report of the agent that performed it is testimony", () => {
    const costs = () => [{ budget: "daily", amount: usd(40n) }];
    const world = given([epochOpen, limited("daily", 100n)]).when(
      proposes({ costs, outside: outside({ begin: true }) }),
    ).world;
    const doubt = given(world).when(asks());
    assert.equal(doubt.state(budgetStream("daily")).reserved, 40n);
    given(doubt.world)
      .when(reports(applied({ id: 7 })))
      .then([fact(action, "effect.reported_late", { status: "applied" })])
      .answers({ kind: "late", state: { phase: "in_doubt" } });
  });

  test("by the rules of the same request, after a commit whose fate was unknown, is the answer of that request", () => {
    given(begun())
      .when(asks({ ask: "non_first" }))
      .then([])
      .answers({ kind: "permitted" });
    const again = given(begun("idempotent")).when(asks());
    given(again.world)
      .when(asks())
      .then([])
      .answers({ kind: "permitted", state: { effect: { permit: { handedOut: 2 } } } });
  });
});
