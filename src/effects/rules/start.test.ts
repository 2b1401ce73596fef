import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ANN,
  action,
  add,
  afterProposal,
  agentSwitch,
  approval,
  asked,
  comesBack,
  EFFECT,
  ESCALATE,
  epochOpen,
  limited,
  proposes,
  says,
  stopped,
  tenantSwitch,
  usd,
  voted,
} from "../../../tests/fixtures/rules.ts";
import { budgetStream, switchStream } from "../../kernel/stream.ts";
import { fact, given } from "../../testing/given.ts";
import { actionIdOf, effectIdOf } from "./start.ts";

const escalates = { policy: says(ESCALATE) };
const daily = budgetStream("daily");
const monthly = budgetStream("monthly");
const released = (at = tenantSwitch) => fact(at, "switch.released", { by: ANN, reason: "over" });

describe("the kill switch", () => {
  for (const [name, at] of [
    ["tenant", tenantSwitch],
    ["agent", agentSwitch],
  ] as const) {
    test(`of the ${name} holds a new proposal before policy is even asked`, () => {
      given([epochOpen, stopped(at)])
        .when(proposes())
        .then([
          fact(action, "action.proposed"),
          fact(action, "action.held", {
            code: "stopped",
            retry: true,
            by: `kill switch (${at.id})`,
            reason: `${ANN}: drill`,
          }),
        ])
        .answers({ answer: { kind: "held" } });
    });

    test(`of the ${name} stops the start of what people approved, and leaves the approval unused`, () => {
      const then = given(add(voted(asked(), ANN), stopped(at))).when(comesBack(escalates));
      then.then([fact(action, "action.held", { code: "stopped" })]);
      assert.partialDeepStrictEqual(then.state(approval), { status: "approved" });
    });
  }

  test("of another agent stops nothing here", () => {
    given([epochOpen, stopped(switchStream("agent:somebody-else"))])
      .when(proposes())
      .answers({ answer: { kind: "started" } });
  });

  test("released lets the same action go on where it was", () => {
    const held = given([epochOpen, stopped(tenantSwitch)]).when(proposes()).world;
    given(add(held, released())).when(comesBack()).answers({ kind: "started" });
  });

  test("that stays on makes no new entry each time somebody tries again", () => {
    const held = given([epochOpen, stopped(tenantSwitch)]).when(proposes()).world;
    given(held)
      .when(comesBack())
      .then([])
      .answers({ kind: "held", refusal: { code: "stopped" } });
  });
});

describe("budgets", () => {
  const cost = (amount: bigint, budget = "daily") => ({ budget, amount: usd(amount) });
  const costs = (...list: ReturnType<typeof cost>[]) => ({ costs: () => list });

  test("are reserved by the commit that starts the effect", () => {
    given([epochOpen, limited("daily", 100n)])
      .when(proposes(costs(cost(40n))))
      .then([
        fact(action, "action.proposed"),
        fact(action, "action.reviewed"),
        fact(action, "effect.started", { costs: [{ budget: "daily", currency: "USD", micros: "40" }] }),
        fact(daily, "budget.reserved", { effect: EFFECT, micros: "40" }),
      ]);
  });

  test("admit exactly what is left", () => {
    given([epochOpen, limited("daily", 40n)])
      .when(proposes(costs(cost(40n))))
      .answers({ answer: { kind: "started" } });
  });

  test("hold what is one micro too much, and say what was asked and what is left", () => {
    given([epochOpen, limited("daily", 39n)])
      .when(proposes(costs(cost(40n))))
      .answers({
        answer: { kind: "held", refusal: { code: "over_budget", by: "budget daily", retry: true } },
      })
      .then([
        fact(action, "action.proposed"),
        fact(action, "action.reviewed"),
        fact(action, "action.held", { reason: "it asks for 0.00004 USD and 0.000039 USD are left" }),
        fact(daily, "budget.refused", { effect: EFFECT }),
      ]);
  });

  test("are reserved all or none: where one has no room, nothing is reserved on the others", () => {
    const then = given([epochOpen, limited("daily", 100n), limited("monthly", 10n)]).when(
      proposes(costs(cost(40n), cost(40n, "monthly"))),
    );
    assert.equal(then.state(daily).reserved, 0n);
    assert.equal(then.state(monthly).reserved, 0n);
    then.answers({ answer: { kind: "held", refusal: { by: "budget monthly" } } });
  });

  test("with room for all are all reserved", () => {
    const then = given([epochOpen, limited("daily", 100n), limited("monthly", 100n)]).when(
      proposes(costs(cost(40n), cost(30n, "monthly"))),
    );
    assert.deepEqual([then.state(daily).reserved, then.state(monthly).reserved], [40n, 30n]);
  });

  test("two costs on one budget are one reservation of their sum", () => {
    const then = given([epochOpen, limited("daily", 100n)]).when(proposes(costs(cost(40n), cost(50n))));
    assert.equal(then.state(daily).reserved, 90n);
  });

  test("that were never opened let nothing through", () => {
    given([epochOpen])
      .when(proposes(costs(cost(1n))))
      .answers({
        answer: {
          kind: "held",
          refusal: { reason: "the budget was never opened: hp.budgets.limit() opens it" },
        },
      });
  });

  test("of another currency let nothing through", () => {
    given([epochOpen, limited("daily", 100n, "EUR")])
      .when(proposes(costs(cost(1n))))
      .answers({ answer: { kind: "held", refusal: { code: "over_budget" } } });
  });

  test("cannot be topped up by a negative cost", () => {
    given([epochOpen, limited("daily", 100n)])
      .when(proposes(costs(cost(-5n))))
      .answers({ answer: { kind: "held" } });
  });

  test("let what was held through once there is room, on the same action", () => {
    const held = given([epochOpen, limited("daily", 10n)]).when(proposes(costs(cost(40n)))).world;
    given(add(held, limited("daily", 50n)))
      .when(comesBack(costs(cost(40n))))
      .answers({ kind: "started" });
  });

  test("that stay full make no new entry each time somebody tries again", () => {
    const held = given([epochOpen, limited("daily", 10n)]).when(proposes(costs(cost(40n)))).world;
    given(held)
      .when(comesBack(costs(cost(40n))))
      .then([])
      .answers({ kind: "held" });
  });

  test("hold an approved action without using its approval up", () => {
    const world = add(voted(asked(), ANN), limited("daily", 10n));
    const then = given(world).when(comesBack({ ...escalates, ...costs(cost(40n)) }));
    then.answers({ kind: "held", refusal: { code: "over_budget" } });
    assert.partialDeepStrictEqual(then.state(approval), { status: "approved" });
    given(then.world)
      .when(comesBack({ ...escalates, ...costs(cost(40n)) }))
      .then([]);
  });

  test("whose estimate throws block the action", () => {
    const broken = () => {
      throw new Error("no price");
    };
    given([epochOpen])
      .when(proposes({ costs: broken }))
      .answers({ answer: { kind: "refused", refusal: { code: "blocked" } } });
  });

  test("with two currencies for one budget block the action", () => {
    const mixed = () => [cost(1n), { budget: "daily", amount: { currency: "EUR", micros: 1n } }];
    given([epochOpen, limited("daily", 10n)])
      .when(proposes({ costs: mixed }))
      .answers({ answer: { kind: "refused", refusal: { code: "blocked" } } });
  });
});

describe("an effect", () => {
  test("has the key of its action: one action, one effect", () => {
    assert.equal(actionIdOf(effectIdOf("act_1")), "act_1");
    const world = afterProposal();
    assert.partialDeepStrictEqual(given(world).when(comesBack()).state(action), {
      effect: { id: EFFECT, attempt: 1 },
    });
  });
});
