// What the desk asks about workflows before people look after them: found, told what they wait for, where they could go back to.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";

const post = (body: unknown) => ({ method: "POST", body }) as const;
type Listed = { readonly workflow_id: string; readonly name: string; readonly waits: unknown };

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.equal(status, 200, text);
  return body;
}

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
}

const listed = async (bench: Bench, query: string): Promise<readonly Listed[]> =>
  ok(await bench.ask(`/api/workflows?${query}`))["workflows"] as Listed[];

const create = async (bench: Bench, name: string, executor: string): Promise<string> =>
  String(ok(await bench.ask("/api/workflows", post({ name, executor_id: executor })))["workflow_id"]);

/** A trip that books, tells somebody for good, and then stands at a checkpoint. */
function defineTrip(hp: Holdpoint, begun: PromiseWithResolvers<string>): void {
  const book = hp.gate({ name: "book", policy: "approve", run: () => ({ booking: 7 }), undo: () => null });
  const tell = hp.gate({ name: "tell", policy: "approve", run: () => null });
  const look = hp.gate({ name: "look", effect: "read", policy: "approve", run: () => null });
  const trip = hp.workflow("trip", async (ctx) => {
    await ctx.call(look, {});
    await ctx.call(book, {});
    await ctx.checkpoint("Booked", {});
    await ctx.call(tell, {});
    await ctx.checkpoint("Told", {});
  });
  trip.start({}).then(({ id }) => begun.resolve(id), begun.reject);
}

const pendingIn = (bench: Bench, id: string, checkpoint: string) =>
  until(async () => {
    const pending = ok(await bench.ask(`/api/workflows/${id}`))["pending"] as Record<string, unknown> | null;
    return pending?.["checkpoint"] === checkpoint ? String(pending["approval_id"]) : undefined;
  });

async function standingAtTold(bench: Bench, id: string): Promise<void> {
  const approval = await pendingIn(bench, id, "Booked");
  ok(
    await bench.ask(
      "/api/approvals/submit",
      post({ request_id: approval, decision: "APPROVED", approved_by: "ann" }),
    ),
  );
  await pendingIn(bench, id, "Told");
}

describe("the list of workflows", () => {
  test("is searched by name, id and agent, in any case", async (t) => {
    const bench = await serverBench(t);
    const spring = await create(bench, "Spring sale", "shop");
    const report = await create(bench, "Report", "writer");
    const ids = async (query: string) => (await listed(bench, query)).map(({ workflow_id }) => workflow_id);
    assert.deepEqual(await ids("q=SPRING"), [spring]);
    assert.deepEqual(await ids(`q=${report.slice(5)}`), [report]);
    assert.deepEqual(await ids("agent=agent:writer"), [report]);
    assert.deepEqual(await ids("q=sale&agent=agent:writer"), []);
    assert.deepEqual((await ids("limit=1")).length, 1);
  });

  test("says what each waits for only when asked to", async (t) => {
    const begun = Promise.withResolvers<string>();
    const define = (hp: Holdpoint) => {
      const ask = hp.workflow("ask", (ctx) => ctx.ask("when", "Which day?"));
      ask.start({}).then(({ id }) => begun.resolve(id), begun.reject);
    };
    const bench = await serverBench(t, { define });
    const id = await begun.promise;
    const kinds = await until(async () => {
      const [row] = await listed(bench, `waits=true&q=${id}`);
      const waits = row?.waits as readonly { readonly kind: string }[];
      return waits.length > 0 ? waits.map(({ kind }) => kind) : undefined;
    });
    assert.deepEqual(kinds, ["question"]);
    assert.equal((await listed(bench, `q=${id}`))[0]?.waits, null);
  });
});

describe("before a workflow is sent back", () => {
  test("it is told where it could go, and what would happen to each call", async (t) => {
    const begun = Promise.withResolvers<string>();
    const bench = await serverBench(t, { define: (hp) => defineTrip(hp, begun) });
    const id = await begun.promise;
    await standingAtTold(bench, id);
    const outlook = ok(await bench.ask(`/api/workflows/${id}/rollback`));
    assert.equal(outlook["why_not"], null);
    const targets = outlook["targets"] as readonly {
      readonly to: string;
      readonly calls: readonly { readonly tool: string; readonly undo: string; readonly phase: string }[];
    }[];
    assert.deepEqual(
      targets.map(({ to, calls }) => [to, calls.map(({ tool, undo }) => `${tool} ${undo}`)]),
      [
        ["Booked", ["tell no"]],
        ["start", ["tell no", "book yes", "look nothing"]],
      ],
    );
  });

  test("one that has ended says why it cannot be", async (t) => {
    const bench = await serverBench(t);
    const id = await create(bench, "Report", "writer");
    ok(await bench.ask(`/api/workflows/${id}/cancel`, post({ reason: "no", by: "ann" })));
    const outlook = ok(await bench.ask(`/api/workflows/${id}/rollback`));
    assert.deepEqual(outlook, { why_not: "it is failed", targets: [] });
  });

  test("its timeline names what a checkpoint captured and could not take back, and what a rollback left", async (t) => {
    const begun = Promise.withResolvers<string>();
    const bench = await serverBench(t, { define: (hp) => defineTrip(hp, begun) });
    const id = await begun.promise;
    await standingAtTold(bench, id);
    ok(
      await bench.ask(
        `/api/workflows/${id}/rollback`,
        post({ reason: "rain", by: "ann", to: "start", after: "fail" }),
      ),
    );
    const rows = await until(async () => {
      const all = ok(await bench.ask(`/api/workflows/${id}/timeline`))["rows"] as Record<string, unknown>[];
      return all.some(({ kind, status }) => kind === "workflow" && status === "failed") ? all : undefined;
    });
    const told = rows.find(({ name }) => name === "Told")?.["checkpoint"] as Record<string, unknown>;
    const { snapshot_id: snapshot } = told["snapshot"] as Record<string, unknown>;
    assert.match(String(snapshot), /^snap_/);
    assert.deepEqual(
      (told["irreversible"] as { tool: string }[]).map(({ tool }) => tool),
      ["tell"],
    );
    const report = rows.find(({ kind }) => kind === "rollback")?.["report"] as Record<string, unknown[]>;
    assert.equal(report["undone"]?.length, 1);
    assert.deepEqual(
      (report["irreversible"] as { tool: string }[]).map(({ tool }) => tool),
      ["tell"],
    );
  });
});

test("what a person found about a doubt is kept with their word", async (t) => {
  const lost = () => {
    throw new Error("socket hang up");
  };
  const calls: Promise<unknown>[] = [];
  const define = (hp: Holdpoint) =>
    void calls.push(hp.gate({ name: "pay", policy: "approve", run: lost })({}));
  const bench = await serverBench(t, { define });
  await Promise.all(calls);
  const [action] = ok(await bench.ask("/api/actions?phase=in_doubt"))["actions"] as Record<string, string>[];
  const word = { status: "applied", reason: "seen on the statement", evidence: "line 7", by: "ann" };
  ok(await bench.ask(`/api/effects/${action?.["effect_id"]}/resolve`, post(word)));
  const entries = ok(await bench.ask(`/api/history/${action?.["action_id"]}`))["entries"] as Record<
    string,
    unknown
  >[];
  const resolved = entries.find(({ type }) => type === "effect.resolved")?.["body"] as Record<
    string,
    unknown
  >;
  assert.equal(resolved["evidence"], "line 7");
});
