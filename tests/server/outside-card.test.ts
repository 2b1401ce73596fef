// The cards of what an agent asks in a workflow that it drives from outside: whose word an undo is, and what a look costs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answered, type Bench, serverSite } from "../fixtures/server.ts";

type Fields = Record<string, unknown>;
type Shown = { readonly approval: Fields; readonly card: Fields };

const post = (body: unknown) => ({ method: "POST", body }) as const;

function ok({ status, body, text }: Answered): Fields {
  assert.equal(status, 200, text);
  return body;
}

async function cardOf(bench: Bench, id: string): Promise<Shown> {
  return ok(await bench.ask(`/api/approvals/${id}/card`)) as Shown;
}

test("an undo that only the agent knows takes away neither badge nor typed word", async (t) => {
  const { bench, hp } = await serverSite(t);
  const policy = { verdict: "escalate", approvers: { quorum: 2 } } as const;
  hp.remote.tool({ name: "hotel.book", policy });
  hp.remote.tool({ name: "hotel.cancel" });
  hp.remote.tool({ name: "hotel.look", effect: "read" });
  const made = ok(await bench.ask("/api/workflows", post({ name: "Trip", executor_id: "far" })));
  const path = `/api/workflows/${String(made["workflow_id"])}`;
  ok(await bench.ask(`${path}/start`, post({})));
  const booked = async (tool: string | null) => {
    const undo = tool === null ? undefined : { tool, args: { booking: 7 } };
    const body = { tool: "hotel.book", args: { hotel: 1 }, request_id: `by ${tool}`, undo };
    const id = String(ok(await bench.ask(`${path}/actions`, post(body)))["approval_id"]);
    const { approval, card } = await cardOf(bench, id);
    assert.partialDeepStrictEqual(approval, undo === undefined ? {} : { undo });
    assert.equal("undo" in approval, undo !== undefined);
    const listed = ok(await bench.ask("/api/approvals"))["approvals"] as Fields[];
    const row = listed.find((one) => one["request_id"] === id);
    assert.equal(row?.["is_irreversible"], card["is_irreversible"], "a row says the same");
    return card as Fields & { effect_words: string; you: Fields };
  };
  for (const tool of ["nothing.at.all", "hotel.look"]) {
    const card = await booked(tool);
    assert.partialDeepStrictEqual(card, { is_irreversible: true, confirm: "hotel.book" });
    assert.match(card.effect_words, /; only the agent says how it would be undone$/);
    assert.match(String(card.you["why_alone"]), /it cannot be undone, and a word is typed/);
  }
  const declared = await booked("hotel.cancel");
  assert.partialDeepStrictEqual(declared, { is_irreversible: false, confirm: null });
  assert.match(declared.effect_words, /as the agent says, by a declared tool$/);
  assert.match(String(declared.you["why_alone"]), /it has an undo to review first/);
  const unable = await booked(null);
  assert.partialDeepStrictEqual(unable, { is_irreversible: true, confirm: "hotel.book" });
  assert.match(unable.effect_words, /cannot be undone automatically$/);
});

test("a card reads of its workflow only what is new since somebody looked, however much its agent called", async (t) => {
  const { bench, hp } = await serverSite(t);
  hp.remote.tool({ name: "note", policy: "approve" });
  const { workflows } = hp.remote;
  const agent = "agent:far";
  const workflow = await workflows.create({ name: "Busy", by: agent });
  await workflows.start(workflow, { agent });
  const calls = async (count: number) => {
    for (let time = 0; time < count; time++)
      await hp.remote.propose({ tool: "note", args: {}, workflow, agent });
  };
  await calls(120);
  await workflows.checkpoint(workflow, { checkpoint: "Plan", agent, summary: "so" });
  const [asked] = (await hp.approvals.list()).items;
  const id = asked?.id ?? "";
  const { store } = (await bench.server.office()).runtime;
  const read = store.read.bind(store);
  let entries = 0;
  t.mock.method(store, "read", async (...given: Parameters<typeof read>) => {
    const page = await read(...given);
    if (given[1].kind === "workflow") entries += page.length;
    return page;
  });
  const look = async () => {
    entries = 0;
    const { card } = await cardOf(bench, id);
    return { around: card["workflow"] as Fields, snapshot: card["snapshot"], entries };
  };
  const first = await look();
  assert.ok(first.entries > 120, "nobody had looked before");
  const again = await look();
  assert.deepEqual([again.around, again.entries], [first.around, 1], "the entry of its checkpoint");
  assert.equal(again.around["total"], 120);
  await hp.approvals.reject(id, { by: "person:ann", reason: "no" });
  await look();
  const over = await look();
  assert.deepEqual([over.entries, over.snapshot], [1, first.snapshot], "turned down, too");
});

test("what only the agent says that it takes back is told apart from what is taken back", async (t) => {
  const { bench, hp } = await serverSite(t);
  for (const name of ["hotel", "seat", "cancel"]) hp.remote.tool({ name, policy: "approve" });
  const made = ok(await bench.ask("/api/workflows", post({ name: "Trip", executor_id: "far" })));
  const path = `/api/workflows/${String(made["workflow_id"])}`;
  ok(await bench.ask(`${path}/start`, post({})));
  for (const [tool, undo] of [
    ["hotel", "cancel"],
    ["seat", "nothing.at.all"],
  ]) {
    const { action_id } = ok(await bench.ask(`${path}/actions`, post({ tool, undo: { tool: undo } })));
    ok(await bench.ask(`/api/actions/${String(action_id)}/outcome`, post({ status: "applied" })));
  }
  const stood = ok(await bench.ask(`${path}/checkpoints`, post({ checkpoint_id: "Plan", summary: "so" })));
  const { card } = await cardOf(bench, String(stood["approval_id"]));
  assert.partialDeepStrictEqual(card["rejecting"], { undone: ["hotel"], claimed: ["seat"], stays: [] });
  const { done, cannot_undo } = card["workflow"] as { done: Fields[]; cannot_undo: number };
  const able = done.map(({ tool, can_undo }) => [tool, can_undo]);
  assert.deepEqual(
    [able, cannot_undo],
    [
      [
        ["seat", false],
        ["hotel", true],
      ],
      1,
    ],
  );
});
