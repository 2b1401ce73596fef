/** Two people who decide the same question at the same moment, from two instances on one store. */
import assert from "node:assert/strict";
import type { Approvals } from "../../src/approvals/contract.ts";
import { isHoldpointError } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/verbs.ts";

export type Racer = { readonly approvals: Approvals; readonly journal: Journal };
type Pay = (args: { readonly n: number }, options: { requestId: string; waitMs: number }) => Promise<unknown>;

const TERMINAL = /^approval\.(approved|modified|rejected|expired|cancelled|superseded)$/;
const AT_ONCE = 20;

async function decide({ approvals }: Racer, id: string, by: string, yes: boolean): Promise<string> {
  try {
    const said = yes ? await approvals.approve(id, { by }) : await approvals.reject(id, { by, reason: "no" });
    return `${said.kind} ${said.status}`;
  } catch (error) {
    return isHoldpointError(error) ? error.code : String(error);
  }
}

/** Of both, exactly one decides; the journal has one vote and one end. */
async function raceOne(racers: readonly [Racer, Racer], id: string, n: number): Promise<string> {
  // Neither instance is faster for one of the people.
  const [one, two] = n % 4 < 2 ? racers : [racers[1], racers[0]];
  const ballots = [
    () => decide(one, id, "person:ann", true),
    () => decide(two, id, "person:bob", n % 3 !== 0),
  ];
  const order = n % 2 === 0 ? ballots : ballots.toReversed();
  const said = (await Promise.all(order.map((cast) => cast()))).toSorted();
  const [lost, won] = said;
  assert.equal(lost, "decision_conflict", `${id}: ${said.join(", ")}`);
  assert.match(String(won), /^recorded (approved|rejected)$/);
  const types = (await one.journal.read(id)).map(({ type }) => type);
  assert.equal(types.filter((type) => TERMINAL.test(type)).length, 1, types.join());
  assert.equal(types.filter((type) => type === "approval.voted").length, 1);
  const { status, decided } = await two.approvals.get(id);
  assert.equal(won, `recorded ${status}`);
  return `${decided?.by.join()} ${status}`;
}

/** `count` questions, a race for each. Both people win sometimes, or nobody raced. */
export async function raceAll(pay: Pay, racers: readonly [Racer, Racer], count: number): Promise<void> {
  const winners = new Map<string, number>();
  for (let done = 0; done < count; done += AT_ONCE) {
    const turn = Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, index) => done + index);
    await Promise.all(turn.map((n) => pay({ n }, { requestId: `race-${n}`, waitMs: 0 })));
    const { items } = await racers[0].approvals.list({ limit: AT_ONCE });
    assert.equal(items.length, turn.length);
    const won = await Promise.all(items.map(({ id }, index) => raceOne(racers, id, done + index)));
    for (const who of won) winners.set(who, (winners.get(who) ?? 0) + 1);
  }
  const sum = [...winners.values()].reduce((all, one) => all + one, 0);
  assert.equal(sum, count);
  assert.ok([...winners.keys()].some((who) => who.startsWith("person:ann")));
  assert.ok([...winners.keys()].some((who) => who.startsWith("person:bob")));
}
