import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DOER, INTENT, intent, sentWorld } from "../../tests/fixtures/intent-rules.ts";
import { AGENT, ANN, approval, asked, BOB, votes } from "../../tests/fixtures/rules.ts";
import { flow, WORKFLOW, worldOf } from "../../tests/fixtures/workflow-rules.ts";
import { answerIntent } from "../agents/intents/rules/answer.ts";
import { fact, given, type World } from "../testing/given.ts";
import { cancelWorkflow } from "../workflows/rules/lifecycle.ts";
import { MOST_REFUSALS } from "./refusals.ts";
import type { Draft, Need } from "./transaction.ts";

type Tries = (by: string) => (draft: Draft) => Need | { readonly kind: string };

const CASES: readonly {
  readonly what: string;
  readonly world: World;
  readonly type: string;
  readonly tries: Tries;
}[] = [
  {
    ...{ what: "an approval", type: "approval.vote_refused", world: asked() },
    tries: (by) => votes(by),
  },
  {
    ...{ what: "an intent", type: "intent.refused", world: sentWorld() },
    tries: (by) => (draft) => answerIntent(draft, { intent: INTENT, by, status: "completed", data: 1 }),
  },
  {
    ...{ what: "a workflow", type: "workflow.refused", world: worldOf("completed") },
    tries: (by) => (draft) => cancelWorkflow(draft, { workflow: WORKFLOW, by, reason: "mine" }),
  },
];

/** How many of them were recorded. */
function tryAll(start: World, names: readonly string[], tries: Tries): { world: World; recorded: number } {
  let world = start;
  let recorded = 0;
  for (const name of names) {
    const then = given(world).when(tries(name));
    const { kind } = then.answer as { readonly kind: string };
    assert.match(kind, /refused$/);
    recorded += then.appended.length;
    world = then.world;
  }
  return { world, recorded };
}

/** So many stand there already, each under another name. */
function withMany({ world, type }: Pick<(typeof CASES)[number], "world" | "type">, count: number): World {
  const [on] = [approval, intent, flow].filter(({ kind }) => type.startsWith(kind));
  assert.ok(on !== undefined);
  const names = Array.from({ length: count }, (_, n) => `agent:n${n}`);
  const body = {
    asked: "cancel",
    status: "completed",
    decision: "approve",
    via: "cli",
    code: "not_eligible",
    reason: "no",
  };
  return { ...world, facts: [...world.facts, ...names.map((by) => fact(on, type, { ...body, by }))] };
}

for (const { what, world, type, tries } of CASES)
  describe(`refused requests about ${what}`, () => {
    const stranger = "agent:stranger";
    const many = Array.from({ length: MOST_REFUSALS.each + 5 }, () => stranger);

    test("are recorded so many times of one principal, answered the same after that, and others' still recorded", () => {
      const after = tryAll(world, many, tries);
      assert.equal(after.recorded, MOST_REFUSALS.each);
      given(after.world).when(tries(stranger)).then([]).answers({ isRecorded: false });
      const other = given(after.world).when(tries("agent:other"));
      assert.deepEqual(
        other.appended.map((one) => one.type),
        [type],
      );
      other.answers({ isRecorded: true });
    });

    test("are recorded so many times in all, whatever names they come under", () => {
      const almost = withMany({ world, type }, MOST_REFUSALS.all - 2);
      assert.equal(tryAll(almost, ["agent:a", "agent:b", "agent:c", "agent:d"], tries).recorded, 2);
    });
  });

describe("after the last refusal that is recorded", () => {
  test("a decision still counts", () => {
    const [first] = CASES;
    assert.ok(first !== undefined);
    const decided = given(withMany(first, MOST_REFUSALS.all)).when(votes(ANN));
    assert.ok(decided.appended.some(({ type }) => type === "approval.approved"));
    assert.equal(decided.state(approval).status, "approved");
    // Of the requester, whom the approval never lets decide, nothing is recorded by then.
    given(withMany(first, MOST_REFUSALS.all)).when(votes(AGENT)).then([]).answers({ kind: "vote_refused" });
  });

  test("the recipient still answers, and the workflow still ends", () => {
    const [, second] = CASES;
    assert.ok(second !== undefined);
    const done = { intent: INTENT, by: DOER, status: "completed", data: 1 } as const;
    const answered = given(withMany(second, MOST_REFUSALS.all)).when((draft) => answerIntent(draft, done));
    assert.equal(answered.state(intent).status, "completed");
    const running = worldOf("executing");
    const ended = given(running).when((draft) =>
      cancelWorkflow(draft, { workflow: WORKFLOW, by: BOB, reason: "enough" }),
    );
    assert.equal(ended.state(flow).status, "failed");
  });
});
