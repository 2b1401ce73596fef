// The inbox over HTTP: what waits for whoever asks, filters with cursors, and what wants somebody now.
import assert from "node:assert/strict";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";

type Row = { readonly request_id: string; readonly [field: string]: unknown };
const rowsOf = ({ body }: { readonly body: Record<string, unknown> }) => body["approvals"] as readonly Row[];

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 400; look++) {
    if (await isSo()) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("it does not come");
}

function define(hp: Holdpoint) {
  const of = (name: string, from: readonly string[]) =>
    hp.gate({
      name,
      policy: { verdict: "escalate", approvers: { from }, decideWithinMs: 3_600_000 },
      run: (_: { amount: number }) => 1,
    });
  const tools = [of("refund", ["person:ann"]), of("wire", ["person:bob"]), of("mail", ["role:supervisor"])];
  return async () => {
    for (const tool of tools)
      await tool({ amount: 4_711 }, { requestId: `r-${tool.name}-${tools.indexOf(tool)}`, waitMs: 0 });
  };
}

async function opened(t: Parameters<typeof serverBench>[0]): Promise<{
  readonly bench: Bench;
  readonly as: (who: "ann" | "pia" | "far", path: string) => ReturnType<Bench["ask"]>;
}> {
  let fill: (() => Promise<void>) | undefined;
  const bench = await serverBench(t, {
    noAuth: false,
    define(hp) {
      fill = define(hp);
    },
  });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  for (const person of ["person:ann", "person:bob"])
    await addPerson(runtime, { person, roles: ["supervisor"], by });
  await addPerson(runtime, { person: "person:pia", roles: ["poster"], by });
  const keys = new Map<string, string>();
  for (const [who, principal] of [
    ["ann", "person:ann"],
    ["pia", "person:pia"],
    ["far", "agent:far"],
  ] as const) {
    const roles = principal.startsWith("agent:") ? ({ roles: ["executor"] } as const) : {};
    keys.set(who, (await issueApiKey(runtime, { principal, name: who, ...roles, by })).text);
  }
  await fill?.();
  const as = (who: string, path: string) =>
    bench.ask(path, { headers: { authorization: `Bearer ${keys.get(who)}` } });
  return { bench, as };
}

test("without authentication a request names the person whose inbox it is; a credential is not to be named otherwise", async (t) => {
  let fill: (() => Promise<void>) | undefined;
  const bench = await serverBench(t, {
    define(hp) {
      fill = define(hp);
    },
  });
  const { runtime } = await bench.server.office();
  for (const person of [by, "person:ann", "person:bob"])
    await addPerson(runtime, { person, roles: [person === by ? "admin" : "supervisor"], by });
  await fill?.();
  const mine = async (person: string) =>
    rowsOf(await bench.ask(`/api/approvals?mine=true&person=${person}`)).map(({ tool }) => tool);
  assert.deepEqual(await mine("ann"), ["refund", "mail"]);
  assert.deepEqual(await mine("person:bob"), ["wire", "mail"]);
  const { as } = await opened(t);
  assert.equal((await as("ann", "/api/approvals?mine=true&person=bob")).status, 403);
  assert.equal((await as("ann", "/api/approvals?mine=true&person=ann")).status, 200);
});

test("the inbox says what waits for whoever asks, and has what a row shows", async (t) => {
  const { as } = await opened(t);
  const all = rowsOf(await as("ann", "/api/approvals"));
  assert.deepEqual(
    all.map(({ tool, is_mine }) => [tool, is_mine]),
    [
      ["refund", true],
      ["wire", false],
      ["mail", true],
    ],
  );
  assert.partialDeepStrictEqual(all[0], { effect_class: "once", risk: null, decided_at: null });
  const named = async (who: "ann" | "pia" | "far", query: string) =>
    rowsOf(await as(who, `/api/approvals?${query}`)).map(({ tool }) => tool);
  assert.deepEqual(await named("ann", "mine=true"), ["refund", "mail"]);
  assert.deepEqual(await named("pia", "mine=true"), []);
  assert.deepEqual(await named("far", "mine=true"), []);
  assert.deepEqual(await named("ann", "q=REFU"), ["refund"]);
  assert.deepEqual(await named("ann", "q=4711&name=wire"), ["wire"]);
  assert.deepEqual(await named("ann", "about=question"), []);
  assert.deepEqual(await named("ann", "agent=nobody"), []);
  assert.equal((await as("ann", "/api/approvals?mine=false")).status, 400);
  assert.equal((await as("ann", `/api/approvals?q=${"x".repeat(201)}`)).status, 400);
});

test("a row says that nobody could take it back, as its card does", async (t) => {
  const bench = await serverBench(t, {
    define(hp) {
      const asks = { policy: "escalate", run: (_: object) => 1 } as const;
      const [mail, look] = [
        hp.gate({ name: "mail", ...asks }),
        hp.gate({ name: "look", effect: "read", ...asks }),
      ];
      const book = hp.gate({ name: "book", undo: () => {}, ...asks });
      hp.workflow("trip", async (ctx, _: object) => {
        await Promise.all([ctx.call(mail, {}), ctx.call(book, {})]);
      }).start({});
      hp.workflow("ask", async (ctx, _: object) => ctx.checkpoint("Plan")).start({});
      for (const [index, tool] of [mail, look, book].entries())
        tool({}, { requestId: `r-${index}` }).catch(() => undefined);
    },
  });
  await until(async () => rowsOf(await bench.ask("/api/approvals")).length === 6);
  const rows = rowsOf(await bench.ask("/api/approvals"));
  const said = rows.map(({ tool, workflow_id, is_irreversible }) =>
    [tool, workflow_id === null ? "alone" : "in a workflow", is_irreversible].join(" "),
  );
  assert.deepEqual(said.toSorted(), [
    "Plan in a workflow false",
    "book alone true",
    "book in a workflow false",
    "look alone false",
    "mail alone true",
    "mail in a workflow true",
  ]);
  for (const { request_id, is_irreversible } of [...rows, ...rowsOf(await bench.ask("/api/approvals"))]) {
    const { card } = (await bench.ask(`/api/approvals/${request_id}/card`)).body;
    assert.partialDeepStrictEqual(card, { is_irreversible });
  }
});

test("filters keep order, cursor and limit", async (t) => {
  const { as } = await opened(t);
  const met: unknown[] = [];
  let cursor = "";
  for (let pages = 0; pages < 5; pages++) {
    const page = await as("ann", `/api/approvals?mine=true&order=newest&limit=1${cursor}`);
    met.push(...rowsOf(page).map(({ tool }) => tool));
    if (page.body["next_cursor"] === null) break;
    cursor = `&cursor=${page.body["next_cursor"]}`;
  }
  assert.deepEqual(met, ["mail", "refund"]);
});

test("the inbox is ordered by deadline where that is asked, with cursors that are of this order alone", async (t) => {
  const bench = await serverBench(t, {
    define(hp) {
      for (const [index, seconds] of [null, 7_200, 3_600, 10_800].entries()) {
        const time = seconds === null ? {} : { decideWithinMs: seconds * 1_000 };
        const policy = { verdict: "escalate", ...time } as const;
        const tool = hp.gate({ name: `t.${index}`, policy, run: () => 1 });
        tool({}, { requestId: `r-${index}` }).catch(() => undefined);
      }
    },
  });
  await until(async () => rowsOf(await bench.ask("/api/approvals")).length === 4);
  const page = async (cursor = "") => bench.ask(`/api/approvals?order=deadline&mine=true&limit=3${cursor}`);
  const first = await page();
  const cursor = `&cursor=${first.body["next_cursor"]}`;
  const names = [first, await page(cursor)].map((one) => rowsOf(one).map(({ tool }) => tool));
  assert.deepEqual(names, [["t.2", "t.1", "t.3"], ["t.0"]]);
  assert.equal((await bench.ask(`/api/approvals?order=oldest${cursor}`)).status, 400);
  assert.equal((await bench.ask("/api/approvals?order=deadline&status=decided")).status, 400);
});

test("what was decided is ordered by when it was where that is asked, with cursors that are of this order alone", async (t) => {
  const bench = await serverBench(t, {
    define(hp) {
      for (const index of [0, 1, 2]) {
        const tool = hp.gate({ name: `t.${index}`, policy: "escalate", run: () => 1 });
        tool({}, { requestId: `r-${index}` }).catch(() => undefined);
      }
    },
  });
  await until(async () => rowsOf(await bench.ask("/api/approvals")).length === 3);
  const byName = new Map(
    rowsOf(await bench.ask("/api/approvals")).map(({ tool, request_id }) => [tool, request_id]),
  );
  for (const name of ["t.1", "t.2", "t.0"])
    await bench.ask(`/api/approvals/${byName.get(name)}/votes`, {
      ...{ method: "POST", body: { decision: "reject", reason: "no", approved_by: "ann" } },
    });
  const page = async (cursor = "") =>
    bench.ask(`/api/approvals?status=decided&order=decided&limit=2${cursor}`);
  const first = await page();
  const cursor = `&cursor=${first.body["next_cursor"]}`;
  const names = [first, await page(cursor)].map((one) => rowsOf(one).map(({ tool }) => tool));
  assert.deepEqual(names, [["t.0", "t.2"], ["t.1"]]);
  assert.equal((await bench.ask(`/api/approvals?status=decided&order=newest${cursor}`)).status, 400);
  assert.equal((await bench.ask("/api/approvals?order=decided")).status, 400);
});

test("what is decided is no longer anybody's, and says when that was", async (t) => {
  const { bench, as } = await opened(t);
  const [first] = rowsOf(await as("ann", "/api/approvals?name=refund"));
  const { runtime } = await bench.server.office();
  const { text } = await issueApiKey(runtime, { principal: "person:ann", name: "two", by });
  const voted = await bench.ask(`/api/approvals/${first?.request_id}/votes`, {
    ...{ method: "POST", headers: { authorization: `Bearer ${text}` } },
    body: { decision: "reject", reason: "no" },
  });
  assert.equal(voted.status, 200, voted.text);
  const [decided, ...others] = rowsOf(await as("ann", "/api/approvals?status=decided"));
  assert.deepEqual(others, []);
  assert.partialDeepStrictEqual(decided, { tool: "refund", status: "rejected", is_mine: false });
  assert.match(String(decided?.["decided_at"]), /Z$/);
  assert.equal(rowsOf(await as("ann", "/api/approvals?status=any")).length, 3);
});

test("what wants somebody is counted for whoever asks, and only what they may read", async (t) => {
  const { as } = await opened(t);
  const { body } = await as("ann", "/api/attention");
  assert.partialDeepStrictEqual(body, { pending: 3, mine: 2, is_all: true, in_doubt: 0, is_empty: false });
  const oldest = rowsOf(await as("ann", "/api/approvals?mine=true"))[0];
  assert.equal(body["oldest_at"], oldest?.["requested_at"]);
  assert.equal(body["next_deadline"], oldest?.["decide_by"]);
  assert.partialDeepStrictEqual((await as("far", "/api/attention")).body, {
    ...{ pending: 3, mine: 0, oldest_at: null, next_deadline: null, alerts: 0, dead_messages: 0 },
  });
});

test("alerts and doubts are counted for people who may read them", async (t) => {
  const bench = await serverBench(t, {
    noAuth: false,
    define(hp) {
      const rule = { kind: "rate", name: "calls", of: "calls", windowMs: 3_600_000, above: 0 } as const;
      void admin(hp).monitor({ name: "watch", rules: [rule] });
      const broken = () => {
        throw new Error("gone");
      };
      hp.gate({ name: "lost", policy: "approve", run: broken })({}).catch(() => undefined);
    },
  });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const keyOf = async (principal: string, more = {}) =>
    (await issueApiKey(runtime, { principal, name: "one", ...more, by })).text;
  const [root, far] = [await keyOf(by), await keyOf("agent:far", { roles: ["executor"] })];
  const ask = async (key: string) =>
    (await bench.ask("/api/attention", { headers: { authorization: `Bearer ${key}` } })).body;
  for (let look = 0; look < 1_000 && (await ask(root))["alerts"] === 0; look++)
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  assert.partialDeepStrictEqual(await ask(root), { in_doubt: 1, alerts: 1, dead_messages: 0 });
  assert.partialDeepStrictEqual(await ask(far), { in_doubt: 1, alerts: 0 });
});

test("where nobody is authenticated everything that waits may be decided by whoever asks", async (t) => {
  const bench = await serverBench(t);
  const empty = (await bench.ask("/api/attention")).body;
  assert.partialDeepStrictEqual(empty, { pending: 0, mine: 0, is_empty: true });
  const proposal = { tool: "bank.wire", args: {}, agent: "far" };
  assert.ok((await bench.ask("/api/actions", { method: "POST", body: proposal })).status < 300);
  assert.equal(rowsOf(await bench.ask("/api/approvals?mine=true")).length, 1);
  assert.partialDeepStrictEqual((await bench.ask("/api/attention")).body, { mine: 1, is_empty: false });
});
