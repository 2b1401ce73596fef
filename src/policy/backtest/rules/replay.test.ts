import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "../../../kernel/json.ts";
import { type Replay, type ReplayEvent, startReplay } from "./replay.ts";

type ReplayEntry = Parameters<Replay["take"]>[0];

let position = 0;

function entry(stream: string, type: string, body: JsonObject | null, at = 1_000): ReplayEntry {
  const [kind = "", id = ""] = stream.split("/");
  position += 1;
  return {
    position,
    kind,
    id,
    type,
    tv: 1,
    seq: position,
    at,
    text: body === null ? null : JSON.stringify(body),
  };
}

const within = (op: string, undoes: string | null = null): JsonObject => ({
  workflow: "wf_1",
  op: `wf_1/${op}`,
  undoes,
  goesOn: false,
});

function proposed(id: string, args: Json, more: JsonObject = {}, at = 1_000): ReplayEntry {
  const facts = { tool: "pay", effectClass: "once", schema: "s", agent: "agent:a", requester: ["agent:a"] };
  const body = {
    ...facts,
    requestId: null,
    says: null,
    args,
    argsDigest: `digest-${id}`,
    givenDigest: "g",
    ...more,
  };
  return entry(`action/${id}`, "action.proposed", body, at);
}

const reviewed = (id: string, verdict = "approve"): ReplayEntry =>
  entry(`action/${id}`, "action.reviewed", { verdict, rule: "r", reason: "", policy: "p", approval: null });

function play(entries: readonly ReplayEntry[]) {
  const replay = startReplay();
  const heard = entries.flatMap((one) => replay.take(one) ?? []);
  return { replay, heard, kinds: heard.map(({ kind }) => kind) };
}

const only = <Kind extends ReplayEvent["kind"]>(heard: readonly ReplayEvent[], kind: Kind) =>
  heard.filter((one): one is Extract<ReplayEvent, { kind: Kind }> => one.kind === kind);

describe("an action that is played again", () => {
  test("is told with its arguments as proposed, although it was revised", () => {
    const { heard } = play([
      proposed("act_1", { amount: 9 }),
      entry("action/act_1", "action.revised", { by: "policy", args: { amount: 5 }, argsDigest: "d5" }),
      reviewed("act_1"),
    ]);
    const [one] = only(heard, "reviewed");
    assert.deepEqual(one?.action.args, { amount: 9 });
    assert.deepEqual([one?.review.revised, one?.review.argsDigest], [true, "d5"]);
  });

  test("is told as revised to unknown arguments where the last revision before its review was erased", () => {
    const revised = (digest: string) =>
      entry("action/act_1", "action.revised", { by: "policy", args: {}, argsDigest: digest });
    const lost = { ...revised("d5"), text: null };
    const saidAfter = (...revisions: readonly ReplayEntry[]) => {
      const { heard } = play([proposed("act_1", {}), ...revisions, reviewed("act_1")]);
      return only(heard, "reviewed").map((one) => [one.review.revised, one.review.argsDigest]);
    };
    assert.deepEqual(saidAfter(), [[false, "digest-act_1"]]);
    assert.deepEqual(saidAfter(lost), [[true, ""]]);
    assert.deepEqual(saidAfter(revised("d5"), lost), [[true, ""]]);
    assert.deepEqual(saidAfter(lost, revised("d6")), [[true, "d6"]]);
    assert.deepEqual(saidAfter({ ...revised("d5"), tv: 99 }), [[true, ""]]);
  });

  test("is told once, at its first review", () => {
    const { kinds } = play([proposed("act_1", {}), reviewed("act_1"), reviewed("act_1", "block")]);
    assert.deepEqual(kinds, ["proposed", "reviewed"]);
  });

  test("whose proposal or review was erased is told as lost, once", () => {
    const { heard } = play([
      entry("action/act_1", "action.proposed", null),
      reviewed("act_1"),
      proposed("act_2", {}),
      entry("action/act_2", "action.reviewed", null),
      reviewed("act_2"),
    ]);
    assert.deepEqual(
      only(heard, "lost").map(({ what }) => what),
      ["proposal", "review"],
    );
    assert.equal(only(heard, "reviewed").length, 0);
  });

  test("is told with what people decided, whichever came first in the commit", () => {
    const { heard } = play([
      proposed("act_1", { amount: 9 }),
      reviewed("act_1", "escalate"),
      entry("approval/apr_1", "approval.requested", {
        ...{ action: "act_1", args: { amount: 9 }, rule: "r" },
        approvers: { quorum: 1 },
      }),
      entry("action/act_1", "action.refused", { code: "rejected" }),
      entry("approval/apr_1", "approval.rejected", { by: "person:ann", reason: "no" }),
    ]);
    const [one] = only(heard, "decided");
    assert.deepEqual([one?.decision, one?.by, one?.reason], ["rejected", ["person:ann"], "no"]);
    assert.equal(one?.action.id, "act_1");
  });

  test("is not told of checkpoints and questions", () => {
    const { kinds } = play([
      entry("approval/apr_1", "approval.requested", {
        action: "wf_1",
        subject: { kind: "checkpoint", workflow: "wf_1", op: "o" },
      }),
      entry("approval/apr_1", "approval.approved", { by: ["person:ann"] }),
    ]);
    assert.deepEqual(kinds, []);
  });
});

const created = entry("workflow/wf_1", "workflow.created", { name: "orders", fork: null });
type Played = ReplayEntry | readonly ReplayEntry[];

/** What a policy would see of the workflow, were act_9 reviewed now. */
function seen(entries: readonly Played[]) {
  const { replay, heard } = play([
    created,
    ...entries.flat(),
    proposed("act_9", {}, { within: within("1/0/pay#9") }, 9_000),
    reviewed("act_9"),
  ]);
  const one = only(heard, "reviewed").at(-1);
  assert.ok(one !== undefined);
  const { input, isWhole } = replay.input(one.action, { args: {}, now: 9_000 });
  const { workflow, history } = input;
  return { workflow, history, isWhole: isWhole() };
}

const made = (id: string): ReplayEntry => entry("workflow/wf_1", "call.made", { op: "o", action: id });
/** A call and its operation in the workflow are recorded in one commit. */
const call = (id: string, at: number, args: Json = {}): readonly ReplayEntry[] => [
  proposed(id, args, { within: within(`1/0/pay#${at}`) }, at),
  made(id),
];
const applied = (id: string, result: Json): ReplayEntry =>
  entry(`action/${id}`, "effect.applied", { epoch: "e", attempt: 1, result, resultDigest: "x" });
const started = (id: string): ReplayEntry => entry(`action/${id}`, "effect.started", { costs: [] });
const settled = (id: string): ReplayEntry => entry("workflow/wf_1", "call.settled", { op: "o", action: id });

describe("the history of a workflow that is played again", () => {
  test("has each call as it stood then, the oldest first", () => {
    const { history } = seen([
      call("act_1", 2),
      started("act_1"),
      call("act_2", 1),
      started("act_2"),
      entry("action/act_2", "effect.in_doubt", { attempt: 1, reason: "" }),
      applied("act_1", { ok: 1 }),
      settled("act_1"),
      call("act_3", 3),
    ]);
    assert.deepEqual(
      history.map(({ action, status, result }) => [action, status, result]),
      [
        ["act_2", "in_doubt", null],
        ["act_1", "applied", { ok: 1 }],
        ["act_3", "waiting", null],
      ],
    );
  });

  test("has the arguments that ran", () => {
    const revised = entry("action/act_1", "action.revised", {
      by: "policy",
      args: { amount: 5 },
      argsDigest: "d",
    });
    assert.deepEqual(seen([call("act_1", 1, { amount: 9 }), revised]).history[0]?.args, { amount: 5 });
  });

  test("knows what was undone, and which attempt is under way", () => {
    const { history, workflow } = seen([
      call("act_1", 1),
      started("act_1"),
      applied("act_1", null),
      settled("act_1"),
      proposed("act_2", {}, { within: within("1/0/undo#1", "act_1") }, 2),
      entry("workflow/wf_1", "compensation.settled", { action: "act_2", undoes: "act_1", status: "undone" }),
      entry("workflow/wf_1", "workflow.started", { epoch: "e" }),
      entry("workflow/wf_1", "rollback.began", { to: null, toSeq: 0, after: "again" }),
      entry("workflow/wf_1", "rollback.ended", { generation: 2, toSeq: 0, after: "again", irreversible: [] }),
    ]);
    assert.deepEqual(workflow, { id: "wf_1", name: "orders", generation: 2, poster: "" });
    assert.deepEqual(
      history.map(({ action, undone }) => [action, undone]),
      [["act_1", true]],
    );
  });

  test("says that it is not whole where a body was erased", () => {
    assert.equal(seen([call("act_1", 1)]).isWhole, true);
    const lost = { ...proposed("act_1", {}), text: null };
    assert.equal(seen([lost, made("act_1")]).isWhole, false);
    assert.equal(seen([call("act_1", 1), { ...started("act_1"), text: null }]).isWhole, false);
  });

  test("is not whole behind an entry of a newer program, and goes on after it", () => {
    const newer = { ...started("act_1"), tv: 99 };
    const { history, isWhole } = seen([call("act_1", 1), newer, call("act_2", 2), started("act_2")]);
    assert.deepEqual(
      history.map(({ action, status }) => [action, status]),
      [
        ["act_1", "waiting"],
        ["act_2", "running"],
      ],
    );
    assert.equal(isWhole, false);
  });

  test("is whole though something that no policy sees was erased", () => {
    const step = entry("workflow/wf_1", "step.completed", null);
    const log = entry("workflow/wf_1", "log.of_a_newer_program", { text: "hello" });
    assert.equal(seen([step, log, call("act_1", 1)]).isWhole, true);
  });

  test("stays as it is, whatever a policy does to what it was handed", () => {
    const { replay, heard } = play([
      created,
      ...call("act_1", 1, { amount: 5 }),
      proposed("act_9", {}, { within: within("1/0/pay#9") }),
      reviewed("act_9"),
    ]);
    const one = only(heard, "reviewed")[0];
    assert.ok(one !== undefined);
    const ask = () => replay.input(one.action, { args: {}, now: 1 }).input.history;
    for (const past of ask()) (past.args as { amount: number }).amount = 0;
    assert.deepEqual(ask()[0]?.args, { amount: 5 });
  });

  test("is whole for a policy that does not look at it", () => {
    const { replay, heard } = play([
      created,
      { ...settled("act_1"), text: null },
      proposed("act_9", {}, { within: within("1/0/pay#9") }),
      reviewed("act_9"),
    ]);
    const one = only(heard, "reviewed")[0];
    assert.ok(one !== undefined);
    assert.equal(replay.input(one.action, { args: {}, now: 1 }).isWhole(), true);
  });
});
