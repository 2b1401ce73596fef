// Two servers on one database.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { issue } from "../../src/engine/identity/keys.ts";
import { setBudget } from "../../src/engine/operate.ts";
import { listenTo } from "../fixtures/listen.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { serverBench } from "../fixtures/server.ts";

let database: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "holdpoint-server-pg-"));
before(async () => {
  database = await startPostgres();
});
after(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("what one server commits the other's listeners hear, in order and once, and a key is worked on once by both", async (t) => {
  const place = {
    database: database.url,
    data: undefined,
    folder,
    noAuth: false,
    rate: 100_000,
    burst: 100_000,
  };
  const one = await serverBench(t, place);
  const two = await serverBench(t, place);
  const { runtime } = await one.server.office();
  await Promise.all([runtime.epoch(), (await two.server.office()).runtime.epoch()]);
  const by = "person:ann";
  const { text } = await issue(runtime, {
    principal: "agent:a",
    name: "a",
    roles: ["auditor", "executor"],
    by,
  });
  const headers = { authorization: `Bearer ${text}` };
  const ears = [
    await listenTo(`${one.url}/api/events?stream=budget`, { headers }),
    await listenTo(`${two.url}/api/events?stream=budget`, { headers }),
  ];
  const other = (await two.server.office()).runtime;
  await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      setBudget(n % 2 === 0 ? runtime : other, `b${n}`, { currency: "USD", micros: 1n }, by),
    ),
  );
  await Promise.all(ears.map((ear) => ear.heard(60)));
  const log = await runtime.store.log("default", 0, 1_000);
  const wanted = log.filter(({ header }) => header.includes("budget/")).map(({ position }) => position);
  for (const ear of ears) {
    assert.deepEqual(
      ear.events.map(({ id }) => id),
      wanted,
    );
    ear.stop();
  }
  const path = "/api/receipts/act_01ARZ3NDEKTSV4RRFFQ69G5FAV/sign";
  const answers = await Promise.all(
    [one, two, one, two].map((server) =>
      server.ask(path, { method: "POST", headers: { ...headers, "idempotency-key": "k" } }),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404, 404],
  );
  assert.equal(new Set(answers.map(({ body }) => body["correlation_id"])).size, 1);
});

test("whoever waits at one server hears what is decided at the other", async (t) => {
  const place = { database: database.url, data: undefined, folder, noAuth: true };
  const one = await serverBench(t, place);
  const two = await serverBench(t, place);
  const waiting = createClient({ server: one.url });
  const deciding = createClient({ server: two.url });
  const proposal = { tool: "wire", args: { amount: 9 }, request_id: "rent", agent: "agent:rent" };
  const asked = await deciding.actions.propose(proposal);
  assert.ok(asked.kind === "waiting");
  const heard = Promise.withResolvers<void>();
  const over = new AbortController();
  const events = waiting.events({ streams: ["approval"], onOpen: () => heard.resolve() }, over.signal);
  const first = events.next();
  await heard.promise;
  const decided = waiting.waitForApproval(asked.approval_id);
  await deciding.approvals.vote(asked.approval_id, { decision: "approve", approved_by: "ann" });
  assert.equal((await decided).approval.status, "approved");
  assert.equal((await first).value?.stream, `approval/${asked.approval_id}`);
  over.abort();
});
