/** Decisions that come too late, twice, or for something else: ten thousand of them, and none is accepted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { randomOf } from "../../src/testing/store-contract/fixture.ts";
import { joins } from "../fixtures/people.ts";
import { machine, type Process } from "../fixtures/runtime.ts";

const DECISIONS = 10_000;
const OF_EACH = 50;
const MINUTE = 60_000;
const [ANN, BOB, CAT, DAN, EVE] = [
  "person:ann",
  "person:bob",
  "person:cat",
  "person:dan",
  "person:eve",
] as const;
const OLD = "0".repeat(64);

type Ballot = { readonly by: string; readonly yes: boolean; readonly binding?: string };
/** What became of a question, with the decisions that must not count for it any more. */
type Case = {
  readonly make: (
    hp: Process,
    id: string,
    advance: (ms: number) => Promise<void>,
  ) => Promise<readonly Ballot[]>;
};

const everybody = (people: readonly string[], binding?: string): readonly Ballot[] =>
  people.flatMap((by) =>
    [true, false].map((yes) => ({ by, yes, ...(binding === undefined ? {} : { binding }) })),
  );

const CASES: Readonly<Record<string, Case>> = {
  approved: {
    make: async (hp, id) => {
      const { binding } = await hp.approvals.get(id);
      for (const by of [ANN, BOB]) await hp.approvals.approve(id, { by });
      return everybody([CAT, DAN, "person:me", "person:x"], binding).concat({ by: ANN, yes: false, binding });
    },
  },
  rejected: {
    make: async (hp, id) => {
      await hp.approvals.reject(id, { by: ANN, reason: "no" });
      return everybody([BOB, CAT, DAN]).concat({ by: ANN, yes: true });
    },
  },
  expired: {
    make: async (hp, id, advance) => {
      const { binding } = await hp.approvals.get(id);
      await hp.approvals.approve(id, { by: ANN });
      await advance(MINUTE);
      return everybody([BOB, CAT, DAN], binding).concat({ by: ANN, yes: false });
    },
  },
  cancelled: {
    make: async (hp, id) => {
      await hp.approvals.cancel(id, { by: ANN, reason: "not needed" });
      return everybody([ANN, BOB, CAT]);
    },
  },
  revoked: {
    make: async (hp, id) => {
      for (const by of [ANN, BOB]) await hp.approvals.approve(id, { by });
      await hp.approvals.revoke(id, { by: CAT, reason: "wait" });
      return everybody([CAT, DAN]).concat({ by: ANN, yes: false });
    },
  },
  stale: {
    make: async (hp, id) => {
      const { binding } = await hp.approvals.get(id);
      await hp.approvals.approve(id, { by: ANN, edit: { n: -1 } });
      return [
        ...everybody([BOB, CAT, DAN], binding),
        ...everybody([BOB, CAT], OLD),
        { by: ANN, yes: true, binding: OLD },
      ];
    },
  },
  ineligible: {
    make: async (hp, id) => {
      await hp.approvals.delegate(id, { by: CAT, to: EVE, reason: "leave" });
      return everybody([CAT, "person:me", "person:gone", "person:x", "agent:tester", "service:s"]);
    },
  },
};

async function votesOf(hp: Process, id: string): Promise<string> {
  const entries = await hp.journal.read(id);
  const facts = entries.map(({ type }) => type).filter((type) => !/_refused$|reminded/.test(type));
  const { status, votes } = await hp.approvals.get(id);
  return JSON.stringify([status, votes.map(({ by, decision }) => [by, decision]), facts]);
}

async function cast({ approvals }: Process, id: string, { by, yes, binding }: Ballot): Promise<string> {
  const seen = binding === undefined ? {} : { binding };
  try {
    const said = yes
      ? await approvals.approve(id, { by, ...seen })
      : await approvals.reject(id, { by, reason: "no", ...seen });
    return said.kind;
  } catch (error) {
    return isHoldpointError(error) ? error.code : String(error);
  }
}

test("ten thousand late, replayed and stale decisions: none is accepted, whatever became of the question", async () => {
  const computer = machine();
  const hp = computer.process({ onBehalfOf: ["person:me"] });
  const random = randomOf(4711);
  const pick = <Item>(list: readonly Item[]): Item => list[(random(1)[0] ?? 0) % list.length] as Item;
  for (const who of [ANN, BOB, CAT, DAN]) await joins(hp.runtime, who, { groups: ["finance"] });
  await joins(hp.runtime, EVE, {});
  const tool = hp.gate({
    name: "pay",
    policy: {
      verdict: "escalate",
      approvers: { from: ["group:finance"], quorum: 2 },
      decideWithinMs: MINUTE,
    },
    run: ({ n }: { readonly n: number }) => n,
  });
  const tally = new Map<string, number>();
  const names = Object.keys(CASES);
  for (let round = 0; round * OF_EACH < DECISIONS; round++) {
    const name = names[round % names.length] as keyof typeof CASES;
    const asked = await tool({ n: round }, { requestId: `late-${round}`, waitMs: 0 });
    assert.ok(asked.status === "pending" && asked.approval !== null);
    const id = asked.approval;
    const ballots = await CASES[name]?.make(hp, id, (ms) => computer.clock.advance(ms));
    assert.ok(ballots !== undefined);
    // The first look at an expired one writes down that it is.
    if (name === "expired") await cast(hp, id, { by: DAN, yes: true });
    const before = await votesOf(hp, id);
    for (let turn = 0; turn < OF_EACH; turn++) {
      const ballot = pick(ballots);
      const said = await cast(hp, id, ballot);
      assert.ok(
        said !== "recorded" && said !== "edit_open",
        `${name}: ${JSON.stringify(ballot)} was ${said}`,
      );
      tally.set(`${name} ${said}`, (tally.get(`${name} ${said}`) ?? 0) + 1);
    }
    assert.equal(await votesOf(hp, id), before, name);
  }
  const codes = new Set([...tally.keys()].map((key) => key.split(" ")[1]));
  assert.deepEqual([...codes].toSorted(), ["decision_conflict", "invalid_input", "not_eligible"]);
  assert.equal(
    [...tally.values()].reduce((sum, one) => sum + one, 0),
    DECISIONS,
  );
  await hp.close();
});
