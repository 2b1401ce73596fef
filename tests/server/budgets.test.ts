// Budgets over HTTP: what is set by name is found in a list, page by page.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Holdpoint } from "../../src/index.ts";
import { serverBench } from "../fixtures/server.ts";

const usd = (dollars: number) => ({ currency: "USD", micros: String(dollars * 1_000_000) });
const put = (dollars: number) => ({ method: "PUT", body: { limit: usd(dollars), by: "ann" } }) as const;
type Row = { readonly name: string };
type Page = { readonly budgets: readonly Row[]; readonly next_cursor: string | null };

test("budgets are listed in the order in which they came, a page at a time", async (t) => {
  const bench = await serverBench(t);
  const names = ["trips", "refunds", "a:b.c_d-e"];
  for (const name of names) assert.equal((await bench.ask(`/api/budgets/${name}`, put(5))).status, 200);
  await bench.ask("/api/budgets/trips", put(7));
  const met: Row[] = [];
  let next: string | null = "";
  while (next !== null) {
    const { status, body, text } = await bench.ask(`/api/budgets?limit=1${next}`);
    assert.equal(status, 200, text);
    const page = body as Page;
    met.push(...page.budgets);
    next = page.next_cursor && `&cursor=${page.next_cursor}`;
  }
  assert.deepEqual(
    met.map(({ name }) => name),
    names,
  );
  const nothing = { spent_micros: "0", reserved_micros: "0", overrun_micros: "0", effects: 0 };
  assert.deepEqual(met[0], { name: "trips", limit: usd(7), ...nothing });
  const strange = Buffer.from("budgets\n0-no such name").toString("base64url");
  assert.equal((await bench.ask(`/api/budgets?cursor=${strange}`)).status, 400);
});

test("a list of budgets says what was spent; one that was asked for and never opened is not in it", async (t) => {
  const paid: (() => Promise<Answer<string>>)[] = [];
  const define = (hp: Holdpoint) => {
    for (const budget of ["tickets", "hotels"]) {
      const cost = () => ({ budget, amount: { currency: "USD", micros: 2_000_000n } });
      const pay = hp.gate({ name: budget, policy: "approve", cost, run: () => "done" });
      paid.push(() => pay({}));
    }
  };
  const bench = await serverBench(t, { define });
  await bench.ask("/api/budgets/tickets", put(5));
  const answers = await Promise.all(paid.map((pay) => pay()));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["done", "pending"],
  );
  const { budgets } = (await bench.ask("/api/budgets")).body as Page;
  assert.partialDeepStrictEqual(budgets, [{ name: "tickets", spent_micros: "2000000", effects: 0 }]);
  assert.equal(budgets.length, 1);
});
