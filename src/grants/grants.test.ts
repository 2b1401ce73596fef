import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ANN,
  APPROVE,
  ARGS,
  action,
  applied,
  type Bending,
  BLOCK,
  BOB,
  comesBack,
  EFFECT,
  ESCALATE,
  epochDied,
  epochOpen,
  limited,
  NEXT_EPOCH,
  nextEpochOpen,
  OTHER,
  proposal,
  reports,
  SECOND,
  says,
  toolRules,
  types,
  usd,
} from "../../tests/fixtures/rules.ts";
import { advance } from "../effects/rules/advance.ts";
import { resolveByPerson } from "../effects/rules/outcome.ts";
import { propose } from "../effects/rules/propose.ts";
import { takeOver } from "../effects/rules/recover.ts";
import { effectIdOf } from "../effects/rules/start.ts";

import { digestOf } from "../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { actionStream, budgetStream, grantStream, ROSTER } from "../kernel/stream.ts";
import type { Draft, IndexRow } from "../kernel/transaction.ts";
import type { Executor } from "../policy/rules/tool-rules.ts";
import type { Verdict } from "../policy/rules/verdict.ts";
import { type Fact, fact, given, NOON, type World } from "../testing/given.ts";
import { findStandingGrant, giveGrant, revokeGrant } from "./rules.ts";
import type { GrantTerms } from "./stream.ts";

const GRANT = "grt_1";
const grant = grantStream(GRANT);
const escalates = { policy: says(ESCALATE) };
const HOUR = 3_600 * SECOND;

const TERMS: GrantTerms = {
  tool: "refund",
  schema: digestOf("schema 1"),
  agent: null,
  when: null,
  uses: 2,
  limit: null,
  expiresAt: NOON + HOUR,
  by: ANN,
  reason: "small refunds",
};
const LIMIT = { amount: "args.amount", currency: "USD", micros: "150000000" };

type Offered = Partial<GrantTerms> & { readonly id?: string };
const gave = ({ id = GRANT, ...terms }: Offered = {}): Fact =>
  fact(grantStream(id), "grant.given", { ...TERMS, ...terms } as unknown as JsonObject);

/** An index that shows what the test wants, though the states say otherwise. */
function showing(draft: Draft, offers: readonly Offered[]): Draft {
  const rows = offers.map(({ id = GRANT, ...terms }) => ({
    stream: grantStream(id),
    data: { ...TERMS, ...terms },
  }));
  return { ...draft, index: () => rows as unknown as readonly IndexRow[] };
}

const withGrants = (bending: Bending): Executor => {
  const { epoch = "epo_00000000000000000000000001", approval: fresh, nonce = "non_1", ...rules } = bending;
  return {
    rules: toolRules(rules),
    loaded: new Map(),
    epoch,
    ids: { approval: fresh ?? "apr_00000000000000000000000001", nonce },
  };
};

type Call = {
  readonly action?: string;
  readonly args?: Json;
  readonly agent?: string;
  readonly for?: string;
};
const calls =
  (offers: readonly Offered[], bending: Bending = escalates, call: Call = {}) =>
  (draft: Draft) =>
    propose(
      showing(draft, offers),
      proposal({
        action: call.action ?? ACTION,
        requestId: call.action ?? "r-1",
        agent: call.agent ?? AGENT,
        requester: [call.agent ?? AGENT, ...(call.for === undefined ? [] : [call.for])],
        ...(call.args === undefined ? {} : { args: call.args }),
        executor: withGrants(bending),
      }),
    );

const used = (body: JsonObject = {}, id = GRANT) => fact(grantStream(id), "grant.used", body);
const startedBy = (id = GRANT) =>
  fact(action, "effect.started", { grant: { kind: "standing", grant: id, by: [ANN] } });

/** The call went to people: no grant was used. */
function asks(
  world: World | readonly Fact[],
  rules: (draft: Draft) => ReturnType<typeof propose>,
  now = NOON,
) {
  const then = given(world, { now }).when(rules);
  assert.deepEqual(types(then).slice(-2), ["action.reviewed", "approval.requested"]);
}

describe("a standing grant that fits", () => {
  test("lets an escalated action start, and is counted in the same commit", () => {
    given([epochOpen, gave()])
      .when(calls([{}]))
      .then([
        fact(action, "action.proposed"),
        fact(action, "action.reviewed", { verdict: "escalate", approval: null }),
        startedBy(),
        used({ action: ACTION, effect: EFFECT, amount: null }),
      ])
      .answers({ kind: "new", answer: { kind: "started" } });
  });

  test("counts the amount of each use, rounded up, and holds its total", () => {
    const before = [epochOpen, gave({ limit: LIMIT })];
    const first = given(before).when(
      calls([{ limit: LIMIT }], escalates, { args: { amount: 100.000_000_1 } }),
    );
    assert.deepEqual(first.appended.at(-1)?.body["amount"], { currency: "USD", micros: "100000001" });
    asks(first.world, calls([{ limit: LIMIT }], escalates, { action: OTHER, args: { amount: 50 } }));
    const second = given(first.world).when(
      calls([{ limit: LIMIT }], escalates, { action: OTHER, args: { amount: 49.999_999 } }),
    );
    assert.equal(second.appended.at(-1)?.type, "grant.used");
  });

  test("is the one that expires first, of several", () => {
    const late = { id: "grt_2", expiresAt: NOON + 2 * HOUR };
    given([epochOpen, gave(), gave(late)])
      .when(calls([late, {}]))
      .then([fact(action, "action.proposed"), fact(action, "action.reviewed"), startedBy(), used()]);
  });

  test("is passed over when it was used up meanwhile, and the next one is taken", () => {
    const late = { id: "grt_2", expiresAt: NOON + 2 * HOUR };
    const worn = [
      used({ action: OTHER, effect: "eff_2", amount: null }),
      used({ action: OTHER, effect: "eff_3", amount: null }),
    ];
    const then = given([epochOpen, gave(), ...worn, gave(late)]).when(calls([{}, late]));
    assert.deepEqual(then.appended.at(-1)?.on, grantStream("grt_2"));
  });

  test("covers what the policy made of the arguments, not what was proposed", () => {
    const cap = says({ verdict: "revise", set: { amount: 10 }, reason: "cap" });
    const revise = ({ args }: { readonly args: Json }): Verdict =>
      (args as { amount: number }).amount > 10 ? cap() : ESCALATE;
    const small = { when: "args.amount <= 10" };
    const then = given([epochOpen, gave(small)]).when(calls([small], { policy: revise }));
    assert.deepEqual(types(then), [
      "action.proposed",
      "action.revised",
      "action.reviewed",
      "effect.started",
      "grant.used",
    ]);
  });

  test("keeps the time in which the policy wants it to start", () => {
    const within = { ...ESCALATE, executeWithinMs: 5_000 } as Verdict;
    const then = given([epochOpen, gave()]).when(calls([{}], { policy: says(within) }));
    assert.equal(then.appended[2]?.body["executeBy"], NOON + 5_000);
  });
});

describe("people are asked although there is a grant", () => {
  const cases: readonly (readonly [string, Offered, Call?])[] = [
    ["of another tool", { tool: "other" }],
    ["given under another schema", { schema: digestOf("schema 0") }],
    ["for another agent", { agent: "agent:other" }],
    ["whose condition does not hold", { when: "args.amount < 100" }],
    ["whose condition errs", { when: "args.nothing > 1" }],
    ["whose condition gives no truth value", { when: "args.order" }],
    ["that is over", { expiresAt: NOON }],
    ["of the one for whom the agent acts", {}, { for: ANN }],
    ["whose amount cannot be told", { limit: { ...LIMIT, amount: "args.nothing" } }],
    ["whose amount is negative", { limit: { ...LIMIT, amount: "-args.amount" } }],
    ["whose total is too small", { limit: { ...LIMIT, micros: "99999999" } }],
  ];
  for (const [what, offer, call] of cases)
    test(what, () => {
      asks([epochOpen, gave(offer)], calls([offer], escalates, call ?? {}));
      // The list may show other terms than those that were given: only the latter count.
      if (call === undefined) asks([epochOpen, gave(offer)], calls([{}], escalates));
    });

  test("of somebody who is not in good standing", () => {
    asks([epochOpen, gave(), fact(ROSTER, "person.suspended", { person: ANN })], calls([{}]));
  });

  test("of somebody whom the rule does not ask", () => {
    const rule = { ...ESCALATE, approvers: { from: [BOB] } } as Verdict;
    asks([epochOpen, gave()], calls([{}], { policy: says(rule) }));
  });

  test("where two people are asked for: a grant stands for one vote", () => {
    const rule = { ...ESCALATE, approvers: { quorum: 2 } } as Verdict;
    asks([epochOpen, gave()], calls([{}], { policy: says(rule) }));
  });

  test("where people are asked in several stages", () => {
    const [one] = [{ quorum: 1, from: null, veto: true }];
    const review = {
      ...{ verdict: "escalate", rule: "big", reason: "", risk: null, shadow: [], revisions: [] },
      ...{ args: ARGS, approvers: one, decideWithinMs: null, executeWithinMs: null },
    } as const;
    const state = { tool: "refund", schema: TERMS.schema, agent: AGENT, requester: [AGENT] };
    const fits = (asked: object) => (draft: Draft) =>
      findStandingGrant(draft, { state, review: { ...review, ...asked } as never, args: ARGS, now: NOON });
    given([gave()]).when(fits({})).answers({ kind: "fits" });
    given([gave()])
      .when(fits({ stages: [one, one] }))
      .answers({ kind: "none" });
  });

  test("that was revoked, whatever a list still shows", () => {
    asks([epochOpen, gave(), fact(grant, "grant.revoked", { by: BOB, reason: "no" })], calls([{}]));
  });

  test("once they were asked: one given later does not take their place", () => {
    const asked = given([epochOpen]).when(calls([])).world;
    const later = { ...asked, facts: [...asked.facts, gave()] };
    given(later).when(comesBack(escalates)).then([]).answers({ kind: "waiting" });
  });
});

test("a block is never overruled by a grant", () => {
  given([epochOpen, gave()])
    .when(calls([{}], { policy: says(BLOCK) }))
    .then([fact(action, "action.proposed"), fact(action, "action.reviewed"), fact(action, "action.refused")]);
});

test("an approval by the policy uses no grant", () => {
  const then = given([epochOpen, gave()]).when(calls([{}], { policy: says(APPROVE) }));
  assert.ok(!types(then).includes("grant.used"));
});

test("a call finds the grants of its tool inside the transaction that uses one", () => {
  const then = given([epochOpen, gave()]).when((draft) =>
    propose(draft, proposal({ executor: withGrants(escalates) })),
  );
  assert.ok(types(then).includes("grant.used"));
});

describe("a use", () => {
  const running = (offer: Offered = {}) => given([epochOpen, gave(offer)]).when(calls([offer])).world;

  test("is given back, with its amount, when the effect certainly did nothing", () => {
    const then = given(running({ limit: LIMIT })).when(reports({ status: "not_applied", reason: "refused" }));
    then.then([
      fact(action, "effect.not_applied"),
      fact(grant, "grant.returned", { effect: EFFECT, amount: { currency: "USD", micros: "100000000" } }),
    ]);
    const { used: count, spent } = then.state(grant) as { used: number; spent: bigint };
    assert.deepEqual({ count, spent }, { count: 0, spent: 0n });
  });

  test("counts when it was applied", () => {
    given(running())
      .when(reports(applied()))
      .then([fact(action, "effect.applied")]);
  });

  test("counts while it is in doubt, and is given back when somebody finds that it did nothing", () => {
    const doubt = given(running()).when(reports({ status: "in_doubt", reason: "no answer" }));
    doubt.then([fact(action, "effect.in_doubt")]);
    given(doubt.world)
      .when((draft) =>
        resolveByPerson(draft, { action: ACTION, status: "not_applied", by: BOB, reason: "looked" }),
      )
      .then([fact(action, "effect.resolved"), fact(grant, "grant.returned", { effect: EFFECT })]);
  });

  test("counts when its process died", () => {
    const world = running();
    const dead = { ...world, facts: [...world.facts, epochDied, nextEpochOpen] };
    given(dead)
      .when((draft) => takeOver(draft, { action: ACTION, epoch: NEXT_EPOCH, reason: "died", tool: null }))
      .then([fact(action, "effect.in_doubt")]);
  });

  test("is given back also to a grant that was revoked meanwhile", () => {
    const world = running();
    const revoked = given(world).when((draft) => revokeGrant(draft, { grant: GRANT, by: BOB, reason: "no" }));
    given(revoked.world)
      .when(reports({ status: "not_applied", reason: "refused" }))
      .then([fact(action, "effect.not_applied"), fact(grant, "grant.returned")]);
  });

  test("is not counted while a budget holds the start, and asking again does not grow the journal", () => {
    const costs = () => [{ budget: "day", amount: usd(2n) }];
    const bending = { ...escalates, costs };
    const held = given([epochOpen, gave(), limited("day", 1n)]).when(calls([{}], bending));
    held.then([
      fact(action, "action.proposed"),
      fact(action, "action.reviewed"),
      fact(action, "action.held"),
      fact(budgetStream("day"), "budget.refused"),
    ]);
    const again = (draft: Draft) => advance(draft, ACTION, withGrants(bending));
    given(held.world).when(again).then([]).answers({ kind: "held" });
    const more = { ...held.world, facts: [...held.world.facts, limited("day", 5n)] };
    assert.deepEqual(types(given(more).when(again)), ["budget.reserved", "effect.started", "grant.used"]);
  });
});

test("a grant is used no more often than it says, whoever asks", () => {
  let world: World = given([epochOpen, gave()]).when(calls([{}])).world;
  for (const n of [2, 3, 4]) {
    const id = `act_${String(n).padStart(26, "0")}`;
    world = given(world).when(calls([{}], { ...escalates, approval: `apr_${n}` }, { action: id })).world;
  }
  const uses = world.facts.filter(({ type }) => type === "grant.used").map(({ body }) => body["effect"]);
  assert.deepEqual(uses, [EFFECT, effectIdOf(OTHER)]);
  assert.equal(world.facts.filter(({ type }) => type === "approval.requested").length, 2);
  assert.ok(world.facts.some(({ on }) => on.id === actionStream(OTHER).id));
});

describe("giving and revoking", () => {
  const { expiresAt: _later, ...terms } = TERMS;
  const gives = (by: string) => (draft: Draft) =>
    giveGrant(draft, { ...terms, by, grant: GRANT, lastsMs: HOUR });
  const revokes = (by: string) => (draft: Draft) => revokeGrant(draft, { grant: GRANT, by, reason: "no" });
  const out = fact(ROSTER, "person.suspended", { person: BOB });

  test("a person in good standing gives it, and its time runs from the store's clock", () => {
    given([], { now: NOON })
      .when(gives(ANN))
      .then([fact(grant, "grant.given", { expiresAt: NOON + HOUR })]);
  });

  test("agents do not give grants, nor do people who are suspended", () => {
    given([]).when(gives("agent:refunds")).then([]).answers({ kind: "not_allowed" });
    given([out]).when(gives(BOB)).then([]).answers({ kind: "not_allowed" });
  });

  test("anybody in good standing takes it back, once", () => {
    const revoked = given([gave()]).when(revokes(BOB));
    revoked.then([fact(grant, "grant.revoked", { by: BOB, reason: "no" })]);
    given(revoked.world).when(revokes(ANN)).then([]).answers({ kind: "revoked" });
    given([gave(), out]).when(revokes(BOB)).then([]).answers({ kind: "not_allowed" });
    given([]).when(revokes(ANN)).then([]).answers({ kind: "unknown" });
  });

  test("a fold that is asked for what cannot be refuses", () => {
    const use = used({ action: OTHER, effect: "eff_2", amount: null });
    const fold = (...facts: readonly Fact[]) =>
      given(facts).when((draft) => draft.need({ read: [grant] }) ?? draft.state(grant));
    assert.throws(() => fold(use), /not given/);
    assert.throws(() => fold(gave(), use, use, use), /used up/);
    assert.throws(
      () => fold(gave(), fact(grant, "grant.returned", { effect: "x", amount: null })),
      /not used/,
    );
    assert.throws(() => fold(gave(), fact(grant, "grant.revoked"), use), /revoked/);
  });
});
