/** What clients do, over and over: each lane asks for one kind of thing, and writes down what it was told. */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../../src/kernel/json.ts";
import { isRefusedByReceiver } from "../../crash/effects.ts";
import { type Hand, insist, look, readBack, textAt } from "./hand.ts";
import type { Call, Vote } from "./told.ts";

const READS = 0.3;
const REJECTS = 0.35;

async function propose(hand: Hand, tool: string, n: number): Promise<{ call: Call; body: JsonObject }> {
  const requestId = `${hand.setup.name}-${n}`;
  const { said, body } = await insist(hand, {
    path: "/api/actions",
    body: { tool, args: { n }, request_id: requestId },
  });
  return { call: told(hand, { requestId, tool, n }, said, body), body };
}

type Asked = Pick<Call, "requestId" | "tool" | "n">;

function told(hand: Hand, asked: Asked, said: Call["said"], body: JsonObject): Call {
  const receipt = (body["receipt"] ?? {}) as JsonObject;
  const call: Call = {
    ...{ kind: "call", ...asked, said, at: Date.now() },
    answer: said === "yes" ? (textAt(body, "waiting_for") ?? textAt(body, "status")) : textAt(body, "code"),
    action: textAt(body, "action_id"),
    status: textAt(receipt, "status"),
  };
  hand.say(call);
  return call;
}

/** Performed by the server that was asked. */
export async function callOnce(hand: Hand, tools: readonly string[]): Promise<void> {
  const { call } = await propose(hand, hand.random.pick(tools), hand.next());
  if (call.said === "yes" && hand.random.chance(READS))
    await readBack(hand, { of: "action", id: call.requestId, known: call.status ?? call.answer ?? "" });
}

async function vote(hand: Hand, approval: string, by: string): Promise<Vote> {
  const isNo = hand.random.chance(REJECTS);
  const decision = isNo ? "reject" : "approve";
  const { said, body } = await insist(hand, {
    path: `/api/approvals/${approval}/votes`,
    body: isNo ? { decision, reason: "not this one" } : { decision },
    key: hand.setup.people[by] ?? "",
  });
  const status =
    said === "yes" ? (textAt(body, "waiting_for") ?? textAt(body, "status")) : textAt(body, "current_status");
  const line: Vote = { kind: "vote", approval, by: `person:${by}`, decision, said, status, at: Date.now() };
  hand.say(line);
  return line;
}

/** Several people decide at once, at whichever server; one of them is first. */
async function race(hand: Hand, approval: string): Promise<void> {
  const people = Object.keys(hand.setup.people);
  const votes = await Promise.all(people.map((by) => vote(hand, approval, by)));
  const won = votes.find(({ said }) => said === "yes");
  if (won?.status != null) await readBack(hand, { of: "approval", id: approval, known: won.status });
}

/** People are asked, they race, and what they agreed to is taken up. */
export async function askOnce(hand: Hand): Promise<void> {
  const n = hand.next();
  const { call, body } = await propose(hand, "asked.wire", n);
  const approval = textAt(body, "approval_id");
  if (call.answer !== "approval" || approval === null || call.action === null) return;
  await race(hand, approval);
  const again = await insist(hand, { path: `/api/actions/${call.action}/start` });
  told(hand, call, again.said, again.body);
}

/** The agent performs it itself, and says what became of it. */
export async function shipOnce(hand: Hand): Promise<void> {
  const { call, body } = await propose(hand, "ship", hand.next());
  const key = textAt(body, "key");
  if (call.answer !== "permitted" || key === null || call.action === null) return;
  const sent = { key, tool: "ship", args: { n: call.n } };
  const quiet = { signal: AbortSignal.timeout(30_000), written: () => undefined };
  const { status: answered, result } = await hand.receiver.post("honours", sent, quiet);
  const status = answered === 200 ? "applied" : "not_applied";
  const { said } = await insist(hand, {
    path: `/api/actions/${call.action}/outcome`,
    body: answered === 200 ? { status, result } : { status, reason: "the receiver refused it" },
  });
  hand.say({ kind: "report", action: call.action, status, said, at: Date.now() });
  if (said === "yes") await readBack(hand, { of: "action", id: call.action, known: status });
}

/** Driven from outside, from its beginning to its end. */
export async function driveOnce(hand: Hand): Promise<void> {
  const requestId = `${hand.setup.name}-drive-${hand.next()}`;
  const say = (step: "create" | "start" | "complete", workflow: string | null, said: Call["said"]) =>
    hand.say({ kind: "workflow", step, requestId, workflow, said, at: Date.now() });
  const made = await insist(hand, {
    path: "/api/workflows",
    body: { name: "Errand", request_id: requestId, checkpoint_names: [] },
  });
  const workflow = textAt(made.body, "workflow_id");
  say("create", workflow, made.said);
  if (made.said !== "yes" || workflow === null) return;
  for (const step of ["start", "complete"] as const) {
    const { said } = await insist(hand, { path: `/api/workflows/${workflow}/${step}` });
    say(step, workflow, said);
    if (said !== "yes") return;
  }
  await readBack(hand, { of: "workflow", id: workflow, known: "completed" });
}

/** Begun by the server that was asked, and gone on with by whichever node finds it. */
export async function beginTrip(hand: Hand): Promise<void> {
  let n = hand.next();
  while (isRefusedByReceiver({ n })) n = hand.next();
  await propose(hand, "trip.begin", n);
}

const LOOK_MS = 300;

/** Whatever waits for people is decided, until the very end. */
export async function decideAll(hand: Hand, isOver: () => boolean): Promise<void> {
  const [first = ""] = Object.values(hand.setup.people);
  while (!isOver()) {
    const { body } = await look(hand, "/api/approvals?limit=20", first);
    const waiting = (body["approvals"] ?? []) as readonly JsonObject[];
    for (const one of waiting) {
      const id = textAt(one, "request_id");
      if (id !== null && (one["about"] === "checkpoint" || hand.isOver())) await race(hand, id);
    }
    await sleep(LOOK_MS);
  }
}
