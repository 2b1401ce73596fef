/** The life of an approval against a model of it that fits on a page. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { cancelApproval, revokeApproval } from "../../src/approvals/rules/withdraw.ts";
import type { LiveApproval } from "../../src/approvals/state.ts";
import { ROSTER } from "../../src/kernel/stream.ts";
import type { Draft } from "../../src/kernel/transaction.ts";
import { decideStanding } from "../../src/people/stream.ts";
import type { Verdict } from "../../src/policy/rules/verdict.ts";
import { given, NOON, type World } from "../../src/testing/given.ts";
import {
  AGENT,
  ANN,
  APPROVAL,
  action,
  approval,
  asked,
  BOB,
  CAT,
  comesBack,
  votes,
} from "../fixtures/rules.ts";
import { runs } from "./runs.ts";

const DAN = "person:dan";
const PEOPLE = [ANN, BOB, CAT, DAN];
const person = fc.constantFrom(...PEOPLE);

type Rule = { readonly quorum: number; readonly from: readonly string[] | null; readonly veto: boolean };
type Setting = { readonly rule: Rule; readonly decideWithinMs: number | null };

/** What the approval should be, kept by hand. */
type Model = {
  readonly setting: Setting;
  status: string;
  now: number;
  readonly suspended: Set<string>;
  readonly decided: Map<string, "approve" | "reject">;
};
/** What it is. */
type Real = { world: World };

const stateOf = (real: Real) =>
  given(real.world)
    .when(() => "look")
    .state(approval) as LiveApproval;
const mayVote = ({ setting, suspended }: Model, who: string) =>
  PEOPLE.includes(who) && !suspended.has(who) && (setting.rule.from?.includes(who) ?? true);

function standing(model: Model): number {
  return [...model.decided].filter(([who, how]) => how === "approve" && mayVote(model, who)).length;
}

function isHopeless(model: Model): boolean {
  const { from, veto, quorum } = model.setting.rule;
  if (veto) return true;
  if (from === null) return false;
  return from.filter((who) => mayVote(model, who) && model.decided.get(who) !== "reject").length < quorum;
}

function passTime(model: Model): void {
  const { decideWithinMs } = model.setting;
  if (model.status === "pending" && decideWithinMs !== null && model.now >= NOON + decideWithinMs)
    model.status = "expired";
}

function modelVote(model: Model, who: string, how: "approve" | "reject"): void {
  const isRepeat = model.decided.get(who) === how;
  const isOpen = () => model.status === "pending";
  if (!isRepeat) passTime(model);
  const before = model.status;
  const deadline = model.setting.decideWithinMs;
  const isLate = deadline !== null && model.now >= NOON + deadline;
  if (isRepeat) {
    if (isOpen() && !isLate && standing(model) >= model.setting.rule.quorum) model.status = "approved";
    return;
  }
  if (before !== "pending" || !mayVote(model, who) || model.decided.has(who)) return;
  model.decided.set(who, how);
  if (how === "approve" && standing(model) >= model.setting.rule.quorum) model.status = "approved";
  if (how === "reject" && isHopeless(model)) model.status = "rejected";
}

const step = (real: Real, model: Model, rules: (draft: Draft) => unknown): void => {
  real.world = given(real.world, { now: model.now }).when(rules as (draft: Draft) => string).world;
};

function agree(model: Model, real: Real): void {
  assert.equal(stateOf(real).status, model.status);
  const facts = real.world.facts.map(({ type }) => type);
  const terminal = facts.filter((type) =>
    /^approval\.(approved|modified|rejected|expired|cancelled)$/.test(type),
  );
  assert.ok(terminal.length <= 1, "one terminal decision");
  assert.ok(facts.filter((type) => type === "approval.consumed").length <= 1, "consumed once");
  const started = facts.filter((type) => type === "effect.started").length;
  assert.equal(started, model.status === "consumed" ? 1 : 0, "started only by consumption");
  const voters = stateOf(real).votes.map(({ by }) => by);
  assert.equal(new Set(voters).size, voters.length, "one vote a person");
  assert.ok(!voters.includes(AGENT));
}

class Vote implements fc.Command<Model, Real> {
  readonly who: string;
  readonly how: "approve" | "reject";
  constructor(who: string, how: "approve" | "reject") {
    this.who = who;
    this.how = how;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    step(real, model, votes(this.who, { decision: this.how, note: "n" }));
    modelVote(model, this.who, this.how);
    agree(model, real);
  }
  toString = () => `${this.how} by ${this.who}`;
}

class Standing implements fc.Command<Model, Real> {
  readonly who: string;
  readonly suspend: boolean;
  constructor(who: string, suspend: boolean) {
    this.who = who;
    this.suspend = suspend;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    const command = { person: this.who, suspend: this.suspend, by: DAN, reason: "r" };
    step(real, model, (draft) => {
      const more = draft.need({ write: [ROSTER] });
      if (more !== undefined) return more;
      draft.append(ROSTER, decideStanding(draft.state(ROSTER), command));
      return "done";
    });
    if (this.suspend) model.suspended.add(this.who);
    else model.suspended.delete(this.who);
    agree(model, real);
  }
  toString = () => `${this.suspend ? "suspend" : "reinstate"} ${this.who}`;
}

class Wait implements fc.Command<Model, Real> {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    model.now += this.ms;
    agree(model, real);
  }
  toString = () => `wait ${this.ms}`;
}

class Withdraw implements fc.Command<Model, Real> {
  readonly how: "cancel" | "revoke";
  constructor(how: "cancel" | "revoke") {
    this.how = how;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    const command = { approval: APPROVAL, by: DAN, reason: "r" };
    step(real, model, (draft) => (this.how === "cancel" ? cancelApproval : revokeApproval)(draft, command));
    if (this.how === "cancel") {
      passTime(model);
      if (model.status === "pending") model.status = "cancelled";
    } else if (model.status === "approved") model.status = "revoked";
    agree(model, real);
  }
  toString = () => this.how;
}

class Dispatch implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    const { rule, decideWithinMs } = model.setting;
    const policy = policyOf({ rule, decideWithinMs });
    const state = given(real.world)
      .when(() => "look")
      .state(action);
    if (state.phase === "waiting" && state.approval !== APPROVAL) return;
    step(real, model, comesBack({ policy: () => policy }));
    passTime(model);
    if (model.status === "approved") model.status = standing(model) >= rule.quorum ? "consumed" : "lapsed";
    agree(model, real);
  }
  toString = () => "dispatch";
}

function policyOf({ rule, decideWithinMs }: Setting): Extract<Verdict, { verdict: "escalate" }> {
  return {
    verdict: "escalate",
    reason: "over the limit",
    rule: "big",
    approvers: rule,
    ...(decideWithinMs === null ? {} : { decideWithinMs }),
  };
}

const rules = fc
  .record({
    quorum: fc.integer({ min: 1, max: 3 }),
    from: fc.option(fc.subarray(PEOPLE, { minLength: 1 })),
    veto: fc.boolean(),
  })
  .filter(({ quorum, from }) => from === null || from.length >= quorum);
const settings = fc.record({ rule: rules, decideWithinMs: fc.option(fc.integer({ min: 1, max: 50 })) });

const commands = fc.commands(
  [
    fc
      .tuple(person, fc.constantFrom("approve" as const, "reject" as const))
      .map(([who, how]) => new Vote(who, how)),
    fc.constantFrom(AGENT, "agent:other", "service:s").map((who) => new Vote(who, "approve")),
    fc.tuple(person, fc.boolean()).map(([who, suspend]) => new Standing(who, suspend)),
    fc.integer({ min: 1, max: 30 }).map((ms) => new Wait(ms)),
    fc.constantFrom("cancel" as const, "revoke" as const).map((how) => new Withdraw(how)),
    fc.constant(new Dispatch()),
  ],
  { maxCommands: 14 },
);

test("whatever people do in whatever order, an approval is what the model says, ends once and is used once", () => {
  return fc.assert(
    fc.property(settings, commands, (setting, list) => {
      const setup = () => ({
        model: {
          setting,
          status: "pending",
          now: NOON,
          suspended: new Set<string>(),
          decided: new Map(),
        } satisfies Model,
        real: { world: asked(policyOf(setting)) },
      });
      fc.modelRun(setup, list);
    }),
    runs(2000),
  );
});

test("a quorum is met exactly when enough distinct eligible people have approved and none has vetoed", () => {
  const ballots = fc.array(fc.tuple(fc.constantFrom(...PEOPLE, AGENT, "service:s"), fc.boolean()), {
    maxLength: 8,
  });
  return fc.assert(
    fc.property(rules, ballots, (rule, list) => {
      const setting = { rule, decideWithinMs: null };
      const model: Model = {
        setting,
        status: "pending",
        now: NOON,
        suspended: new Set(),
        decided: new Map(),
      };
      const real = { world: asked(policyOf(setting)) };
      for (const [who, yes] of list) {
        step(real, model, votes(who, { decision: yes ? "approve" : "reject", note: "n" }));
        modelVote(model, who, yes ? "approve" : "reject");
      }
      assert.equal(stateOf(real).status, model.status);
      const counted = stateOf(real).decided?.by ?? [];
      if (model.status === "approved")
        assert.ok(new Set(counted).size >= rule.quorum && counted.every((who) => PEOPLE.includes(who)));
    }),
    runs(2000),
  );
});
