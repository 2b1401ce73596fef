/** Calls that race for what is left of a grant, from several instances on one store. */
import assert from "node:assert/strict";
import type { Holdpoint } from "../../src/index.ts";

const USES = 4;
const CALLS = 24;
const OFFER = { tool: "refund", uses: USES, forMs: 3_600_000, by: "person:ann", reason: "a race" } as const;

/** The tool fails now and then, certainly: those uses come back and are used by others. */
export async function raceFor(instances: readonly Holdpoint[]): Promise<void> {
  const ran: string[] = [];
  const tools = instances.map((hp) =>
    hp.gate({
      name: "refund",
      isDefinite: () => true,
      run: (args: { readonly n: number }, { action }) => {
        if (args.n % 5 === 0) throw new Error("refused");
        ran.push(action);
        return args.n;
      },
    }),
  );
  const [first] = instances;
  assert.ok(first !== undefined);
  const total = { currency: "USD", micros: 3_000_000n };
  const { id } = await first.grants.give({ ...OFFER, total, amount: "1" });
  await Promise.all(
    Array.from({ length: CALLS }, (_, n) =>
      tools[n % tools.length]?.({ n }, { requestId: `r-${n}`, waitMs: 0 }),
    ),
  );
  assert.ok(ran.length <= 3, `${ran.length} ran by a grant whose total is for three`);
  // What came back is used by whoever comes later.
  for (let n = CALLS; n < CALLS + 5; n++)
    await tools[0]?.({ n: n * 5 + 1 }, { requestId: `r-${n}`, waitMs: 0 });
  const uses = await first.grants.uses(id);
  const counted = uses.filter(({ returned }) => !returned).map(({ action }) => action);
  const grant = await first.grants.get(id);
  assert.equal(ran.length, 3);
  assert.deepEqual(counted.toSorted(), ran.toSorted());
  assert.deepEqual([grant.used, grant.limit?.spent.micros], [3, 3_000_000n]);
  const { ok } = await first.journal.verify();
  assert.ok(ok);
}
