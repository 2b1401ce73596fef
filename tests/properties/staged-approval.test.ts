/** An approval in stages, with its deadlines and extensions, against a model of it that counts everything by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { expireIfDue } from "../../src/core/approval/end.ts";
import { extend } from "../../src/core/approval/extend.ts";
import type { LiveApproval } from "../../src/core/approval/state.ts";
import type { Draft } from "../../src/core/draft.ts";
import { decideStanding } from "../../src/core/roster.ts";
import { approvalTerms, unmeetable } from "../../src/core/stages.ts";
import { ROSTER } from "../../src/core/stream.ts";
import type { OnTimeout, Verdict } from "../../src/core/verdict.ts";
import { given, NOON, type World } from "../../src/testing/given.ts";
import { APPROVAL, approval, asked, comesBack, votes } from "../fixtures/rules.ts";
import { runs } from "./runs.ts";

const PEOPLE = ["person:a", "person:b", "person:c", "person:d", "person:e"];
type Rule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly veto: boolean;
  readonly ms: number | null;
};
type Setting = { readonly rules: readonly Rule[]; readonly onTimeout: OnTimeout };
type How = "approve" | "reject";
type Step =
  | { readonly do: "vote"; readonly who: string; readonly how: How }
  | { readonly do: "suspend" | "reinstate"; readonly who: string }
  | { readonly do: "extend"; readonly who: string; readonly ms: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "sweep" | "dispatch" };

type Model = {
  readonly setting: Setting;
  status: string;
  now: number;
  stage: number;
  deadline: number | null;
  readonly cast: Map<string, { readonly how: How; readonly stage: number }>;
  readonly suspended: Set<string>;
  readonly handedOver: Set<number>;
  readonly extended: Set<number>;
};

const ruleOf = (model: Model, stage = model.stage): Rule => model.setting.rules[stage - 1] as Rule;
const mayDecide = (model: Model, who: string, rule = ruleOf(model)): boolean =>
  who.startsWith("person:") && !model.suspended.has(who) && (rule.from?.includes(who) ?? true);
const isLate = ({ status, deadline, now }: Model): boolean =>
  status === "pending" && deadline !== null && now >= deadline;

function begin(model: Model, from: number): void {
  model.stage++;
  const { ms } = ruleOf(model);
  model.deadline = ms === null ? null : from + ms;
}

function passTime(model: Model): void {
  while (isLate(model)) {
    const { onTimeout, rules } = model.setting;
    const at = model.deadline as number;
    if (onTimeout === "extend" && !model.extended.has(model.stage)) {
      model.extended.add(model.stage);
      model.deadline = at + (ruleOf(model).ms as number);
    } else if (onTimeout === "escalate" && model.stage < rules.length) {
      model.handedOver.add(model.stage);
      begin(model, at);
    } else model.status = "expired";
  }
}

function agreed(model: Model, stage: number): number {
  const rule = ruleOf(model, stage);
  return [...model.cast].filter(
    ([who, vote]) => vote.how === "approve" && vote.stage === stage && mayDecide(model, who, rule),
  ).length;
}

const allMet = (model: Model): boolean =>
  model.setting.rules.every(
    (rule, index) => model.handedOver.has(index + 1) || agreed(model, index + 1) >= rule.quorum,
  );

function conclude(model: Model): void {
  if (agreed(model, model.stage) < ruleOf(model).quorum) return;
  if (model.stage < model.setting.rules.length) begin(model, model.now);
  else if (allMet(model)) model.status = "approved";
}

/** By trying every way of giving the seats of named stages to people. */
function seatable(rules: readonly Rule[], free: readonly string[]): boolean {
  const [first, ...rest] = rules;
  if (first === undefined) return true;
  if (first.from === null || first.quorum === 0) return seatable(rest, free);
  const fewer = [{ ...first, quorum: first.quorum - 1 }, ...rest];
  return first.from.some(
    (who) =>
      free.includes(who) &&
      seatable(
        fewer,
        free.filter((one) => one !== who),
      ),
  );
}

const laterRules = (model: Model): readonly Rule[] => model.setting.rules.slice(model.stage);
const unused = (model: Model): readonly string[] => PEOPLE.filter((who) => !model.cast.has(who));

function isNeededLater(model: Model, who: string): boolean {
  const free = unused(model).filter((one) => !model.suspended.has(one));
  const without = free.filter((one) => one !== who);
  return seatable(laterRules(model), free) && !seatable(laterRules(model), without);
}

function isHopeless(model: Model): boolean {
  const { veto, from, quorum } = ruleOf(model);
  if (veto || !seatable(laterRules(model), unused(model))) return true;
  if (from === null) return false;
  const left = from.filter((who) => {
    const vote = model.cast.get(who);
    return (
      mayDecide(model, who) && (vote === undefined || (vote.how === "approve" && vote.stage === model.stage))
    );
  });
  return left.length < quorum;
}

function modelVote(model: Model, who: string, how: How): void {
  if (model.cast.get(who)?.how === how) {
    if (model.status === "pending" && !isLate(model)) conclude(model);
    return;
  }
  passTime(model);
  if (model.status !== "pending" || !mayDecide(model, who) || model.cast.has(who)) return;
  if (how === "approve" && isNeededLater(model, who)) return;
  model.cast.set(who, { how, stage: model.stage });
  if (how === "approve") conclude(model);
  else if (isHopeless(model)) model.status = "rejected";
}

function modelExtend(model: Model, who: string, until: number): void {
  passTime(model);
  if (model.status !== "pending" || model.deadline === null || !mayDecide(model, who)) return;
  model.deadline = Math.max(model.deadline, until);
}

function modelDispatch(model: Model): void {
  if (model.status === "approved") model.status = allMet(model) ? "consumed" : "lapsed";
  passTime(model);
  if (model.status === "pending") conclude(model);
}

function verdictOf({ rules, onTimeout }: Setting): Extract<Verdict, { verdict: "escalate" }> {
  const stages = rules.map(({ ms, ...rule }) => (ms === null ? rule : { ...rule, decideWithinMs: ms }));
  return { verdict: "escalate", rule: "big", reason: "over the limit", stages, onTimeout };
}

const setStanding = (person: string, suspend: boolean) => (draft: Draft) => {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  draft.append(ROSTER, decideStanding(draft.state(ROSTER), { person, suspend, by: "person:z", reason: "r" }));
  return "done";
};

function act(model: Model, step: Step): ((draft: Draft) => unknown) | undefined {
  switch (step.do) {
    case "vote":
      modelVote(model, step.who, step.how);
      return votes(step.who, { decision: step.how, note: "n" });
    case "suspend":
    case "reinstate":
      model.suspended[step.do === "suspend" ? "add" : "delete"](step.who);
      return setStanding(step.who, step.do === "suspend");
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
      passTime(model);
      return (draft) => expireIfDue(draft, APPROVAL);
    case "dispatch":
      modelDispatch(model);
      return comesBack({ policy: () => verdictOf(model.setting) });
  }
}

const person = fc.constantFrom(...PEOPLE);
const anybody = fc.constantFrom(...PEOPLE, "agent:refunds", "person:z");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("vote" as const),
      who: person,
      how: fc.constantFrom<How>("approve", "approve", "approve", "reject"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 30 }) }),
  },
  fc.record({ do: fc.constantFrom("suspend" as const, "reinstate" as const), who: person }),
  fc.record({ do: fc.constant("extend" as const), who: anybody, ms: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ do: fc.constantFrom("sweep" as const, "dispatch" as const) }),
);
const rule: fc.Arbitrary<Rule> = fc.record({
  quorum: fc.integer({ min: 1, max: 2 }),
  from: fc.option(fc.subarray(PEOPLE, { minLength: 1 })),
  veto: fc.boolean(),
  ms: fc.option(fc.integer({ min: 0, max: 40 })),
});
const settings: fc.Arbitrary<Setting> = fc
  .record({
    rules: fc.array(rule, { minLength: 2, maxLength: 3 }),
    onTimeout: fc.constantFrom<OnTimeout>("expire", "escalate", "extend"),
  })
  .filter((setting) => {
    const terms = approvalTerms(verdictOf(setting));
    return typeof terms !== "string" && unmeetable(terms, []) === undefined;
  });

const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval) as LiveApproval;

function agree(model: Model, world: World): void {
  const { status, stage, decideBy, votes: cast, handedOver } = stateOf(world);
  assert.deepEqual(
    { status, stage, decideBy, cast: cast.map(({ by }) => by), handedOver },
    {
      status: model.status,
      stage: model.stage,
      decideBy: model.deadline,
      cast: [...model.cast.keys()],
      handedOver: [...model.handedOver],
    },
  );
}

test("whatever people and time do to an approval in stages, it stands where the model says", () => {
  void fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 16 }), (setting, steps) => {
      const model: Model = {
        setting,
        status: "pending",
        now: NOON,
        stage: 1,
        deadline: setting.rules[0]?.ms == null ? null : NOON + setting.rules[0].ms,
        cast: new Map(),
        suspended: new Set(),
        handedOver: new Set(),
        extended: new Set(),
      };
      let world = asked(verdictOf(setting));
      for (const one of steps) {
        const { now } = model;
        const rules = act(model, one);
        if (rules !== undefined) world = given(world, { now }).when(rules as (draft: Draft) => string).world;
        agree(model, world);
        if (model.status === "lapsed") return;
      }
    }),
    runs(1000),
  );
});
