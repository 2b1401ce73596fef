/**
 * An approval in stages, with roles and groups, seats that are handed over, half times, reminders, deadlines and extensions,
 * against a model of it that does everything by hand.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { announceDue, extend } from "../../src/approvals/rules/deadline.ts";
import { delegate } from "../../src/approvals/rules/delegate.ts";
import type { LiveApproval } from "../../src/approvals/state.ts";
import { nextDue } from "../../src/approvals/state.ts";
import { ROSTER } from "../../src/kernel/stream.ts";
import type { Draft } from "../../src/kernel/transaction.ts";
import { decideMember, decideStanding, type Role } from "../../src/people/stream.ts";
import type { Verdict } from "../../src/policy/rules/verdict.ts";
import { given, type World } from "../../src/testing/given.ts";
import { member } from "../fixtures/people.ts";
import { APPROVAL, approval, asked, comesBack, votes } from "../fixtures/rules.ts";
import { runs } from "./runs.ts";
import * as by from "./staged-model.ts";
import {
  type How,
  type Model,
  modelOf,
  PEOPLE,
  type Rule,
  type Setting,
  STRANGER,
  TICK,
} from "./staged-model.ts";

type Step =
  | { readonly do: "vote"; readonly who: string; readonly how: How }
  | { readonly do: "suspend" | "reinstate" | "takeBack"; readonly who: string }
  | { readonly do: "place"; readonly who: string; readonly places: readonly string[] }
  | { readonly do: "delegate"; readonly who: string; readonly to: string }
  | { readonly do: "extend"; readonly who: string; readonly ms: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "sweep" | "dispatch" };

function modelVote(model: Model, who: string, how: How): void {
  if (model.cast.get(who)?.how === how) {
    if (model.status === "pending" && (model.deadline === null || model.now < model.deadline))
      by.conclude(model);
    return;
  }
  by.passTime(model);
  if (model.status !== "pending" || !by.mayDecide(model, who) || model.cast.has(who)) return;
  if (how === "approve" && by.isNeededLater(model, who)) return;
  model.cast.set(who, { how, stage: model.stage });
  if (how === "approve") by.conclude(model);
  else if (by.isHopeless(model)) model.status = "rejected";
}

function modelExtend(model: Model, who: string, until: number): void {
  by.passTime(model);
  if (model.status !== "pending" || model.deadline === null || !by.mayDecide(model, who)) return;
  if (until <= model.deadline) return;
  model.deadline = until;
  model.since = model.now;
  model.remindedUpTo = model.now;
}

function modelDispatch(model: Model): void {
  if (model.status === "approved") model.status = by.allMet(model) ? "consumed" : "lapsed";
  by.passTime(model);
  if (model.status === "pending") by.conclude(model);
}

function verdictOf({ rules, onTimeout }: Setting): Extract<Verdict, { verdict: "escalate" }> {
  const stages = rules.map(({ quorum, from, veto, ms, also, every }) => ({
    quorum,
    from,
    veto,
    ...(ms === null ? {} : { decideWithinMs: ms }),
    ...(also === null || from === null ? {} : { escalateAtHalf: also }),
    ...(every === null ? {} : { remindEveryMs: every }),
  }));
  // A single stage has none to hand over to, and such a rule is refused.
  const atDeadline = onTimeout === "escalate" && stages.length === 1 ? "expire" : onTimeout;
  return { verdict: "escalate", rule: "big", reason: "over the limit", stages, onTimeout: atDeadline };
}

const onRoster = (change: (draft: Draft) => void) => (draft: Draft) => {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  change(draft);
  return "done";
};

const setStanding = (person: string, suspend: boolean) =>
  onRoster((draft) =>
    draft.append(ROSTER, decideStanding(draft.state(ROSTER), { person, suspend, by: STRANGER, reason: "r" })),
  );

const without = (kind: string, places: readonly string[]) =>
  places.flatMap((place) => (place.startsWith(kind) ? [place.slice(kind.length)] : []));
const placeOf = (places: readonly string[]) => ({
  roles: without("role:", places) as Role[],
  groups: without("group:", places),
});

const setPlace = (person: string, places: readonly string[]) =>
  onRoster((draft) => {
    const command = { person, member: { name: person, mail: null, ...placeOf(places) }, by: STRANGER };
    draft.append(ROSTER, decideMember(draft.state(ROSTER), command));
  });

const hands = (who: string, to: string | null) => (draft: Draft) =>
  delegate(draft, { approval: APPROVAL, by: who, to, reason: "r", via: "test" });

function act(model: Model, step: Step): ((draft: Draft) => unknown) | undefined {
  switch (step.do) {
    case "vote":
      modelVote(model, step.who, step.how);
      return votes(step.who, { decision: step.how, note: "n" });
    case "suspend":
    case "reinstate":
      model.suspended[step.do === "suspend" ? "add" : "delete"](step.who);
      return setStanding(step.who, step.do === "suspend");
    case "place":
      model.places.set(step.who, step.places);
      return setPlace(step.who, step.places);
    case "delegate":
      by.delegate(model, step.who, step.to);
      return hands(step.who, step.to);
    case "takeBack":
      by.takeBack(model, step.who);
      return hands(step.who, null);
    case "extend": {
      const until = (model.deadline ?? model.now) + step.ms;
      modelExtend(model, step.who, until);
      const command = { approval: APPROVAL, by: step.who, until, seen: null, via: "test" };
      return (draft) => extend(draft, command);
    }
    case "wait":
      model.now += step.ms;
      return undefined;
    case "sweep":
      by.sweep(model);
      return (draft) => announceDue(draft, APPROVAL);
    case "dispatch":
      modelDispatch(model);
      return comesBack({ policy: () => verdictOf(model.setting) });
  }
}

const PLACES = ["group:g", "group:h", "role:admin"];
const person = fc.constantFrom(...PEOPLE);
const anybody = fc.constantFrom(...PEOPLE, "agent:refunds", STRANGER);
const ticks = (min: number, max: number) => fc.integer({ min, max }).map((count) => count * TICK);
const doing = <Name extends Step["do"]>(...names: Name[]) => fc.constantFrom(...names);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: doing("vote"),
      who: fc.oneof({ weight: 9, arbitrary: person }, anybody),
      how: fc.constantFrom<How>("approve", "approve", "approve", "reject"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: doing("wait"), ms: ticks(1, 30) }) },
  { weight: 2, arbitrary: fc.record({ do: doing("delegate"), who: person, to: anybody }) },
  fc.record({ do: doing("suspend", "reinstate", "takeBack"), who: person }),
  fc.record({ do: doing("place"), who: person, places: fc.subarray(PLACES) }),
  fc.record({ do: doing("extend"), who: anybody, ms: ticks(1, 30) }),
  { weight: 2, arbitrary: fc.record({ do: doing("sweep", "dispatch") }) },
);
const names = fc.subarray([...PEOPLE, ...PLACES], { minLength: 1 });
const rule: fc.Arbitrary<Rule> = fc.record({
  quorum: fc.integer({ min: 1, max: 2 }),
  from: fc.option(names),
  also: fc.option(names),
  every: fc.option(ticks(3, 12), { freq: 2 }),
  veto: fc.boolean(),
  ms: fc.option(ticks(1, 40)),
});
const settings: fc.Arbitrary<Setting> = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
  onTimeout: fc.constantFrom("expire", "escalate", "extend"),
  places: fc.tuple(...PEOPLE.map((who) => fc.tuple(fc.constant(who), fc.subarray(PLACES)))),
});

const begin = (setting: Setting): World =>
  asked(
    verdictOf(setting),
    setting.places.map(([who, places]) => member(who, placeOf(places))),
  );
const lookAt = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval);

function agree(model: Model, world: World): void {
  const state = lookAt(world) as LiveApproval;
  const { status, stage, decideBy, votes: cast, handedOver, widened, delegations } = state;
  const said = world.facts.filter(({ type }) => type === "approval.reminded");
  assert.deepEqual(
    {
      status,
      stage,
      decideBy,
      cast: cast.map((one) => one.by),
      handedOver,
      widened,
      hands: delegations.map(({ by: who, to, stage: at = 1 }) => ({ by: who, to, stage: at })),
      reminders: said.map(({ body }) => `${String(body["why"])} ${String(body["due"])}`),
      due: nextDue(state),
    },
    {
      status: model.status,
      stage: model.stage,
      decideBy: model.deadline,
      cast: [...model.cast.keys()],
      handedOver: [...model.handedOver],
      widened: [...model.widened],
      hands: model.hands,
      reminders: model.reminders,
      due: by.dueOf(model),
    },
  );
}

test("whatever people and time do to an approval in stages, it stands where the model says", () => {
  let asked_ = 0;
  void fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 16 }), (setting, steps) => {
      const model = modelOf(setting);
      let world = begin(setting);
      assert.equal(lookAt(world).status, by.isMeetable(model) ? "pending" : "none");
      if (lookAt(world).status === "none") return;
      asked_++;
      for (const one of steps) {
        const { now } = model;
        const rules = act(model, one);
        if (rules !== undefined) world = given(world, { now }).when(rules as (draft: Draft) => string).world;
        agree(model, world);
        if (model.status === "lapsed") return;
      }
    }),
    runs(1500),
  );
  assert.ok(asked_ > 300, "most of what is drawn could be met");
});
