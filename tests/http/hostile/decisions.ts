/** Decisions that must not count: the second of two at once, and whatever comes late, again or about something else. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, openConnection } from "../../../bench/http/load.ts";
import { inLanes, type Target } from "./server-process.ts";

export type Raced = { readonly races: number; readonly approved: number; readonly wrong: readonly string[] };
export type Late = { readonly sent: number; readonly wrong: readonly string[] };

type Body = Record<string, unknown>;
type Said = { readonly status: number; readonly body: Body };
type Desk = {
  /** What waits for people from now on. */
  propose(): Promise<string>;
  as(who: "ann" | "bob", approval: string, ballot: object): Promise<Said>;
  submit(who: "ann" | "bob", ballot: object): Promise<Said>;
  get(approval: string): Promise<Body>;
  close(): void;
};

async function said(connection: Connection, path: string, body: object): Promise<Said> {
  const reply = await connection.post(path, JSON.stringify(body));
  return { status: reply.status, body: JSON.parse(String(reply.body)) as Body };
}

async function openDesk({ port, keys }: Target): Promise<Desk> {
  const open = (key: string) => openConnection(port, `Authorization: Bearer ${key}\r\n`);
  const [agent, ann, bob] = await Promise.all([open(keys.agent), open(keys.ann), open(keys.bob)]);
  const people = { ann, bob };
  return {
    async propose() {
      const { status, body } = await said(agent, "/api/actions", { tool: "ask", args: { amount: 1 } });
      if (status !== 200 || typeof body["approval_id"] !== "string")
        throw new Error(`${status} ${JSON.stringify(body)}`);
      return body["approval_id"];
    },
    as: (who, approval, ballot) => said(people[who], `/api/approvals/${approval}/votes`, ballot),
    submit: (who, ballot) => said(people[who], "/api/approvals/submit", ballot),
    async get(approval) {
      const headers = { authorization: `Bearer ${keys.ann}` };
      const answer = await fetch(`http://127.0.0.1:${port}/api/approvals/${approval}`, { headers });
      return (await answer.json()) as Body;
    },
    close() {
      for (const connection of [agent, ann, bob]) connection.close();
    },
  };
}

const APPROVE = { decision: "approve" };
const REJECT = { decision: "reject", reason: "no" };

/** Either comes up to three milliseconds later than the other. */
async function race(
  desk: Desk,
  number: number,
): Promise<{ readonly approved: boolean; readonly wrong?: string }> {
  const approval = await desk.propose();
  const after = async (ms: number, who: "ann" | "bob", vote: typeof APPROVE) => {
    if (ms > 0) await sleep(ms);
    return desk.as(who, approval, vote);
  };
  const [late, isYesLate] = [number % 4, number % 8 >= 4];
  const [yes, reject] = await Promise.all([
    after(isYesLate ? late : 0, "ann", APPROVE),
    after(isYesLate ? 0 : late, "bob", REJECT),
  ]);
  const statuses = [yes.status, reject.status].sort().join();
  const { status, votes } = await desk.get(approval);
  const approved = yes.status === 200;
  const isRight = statuses === "200,409" && status === (approved ? "approved" : "rejected");
  const isOne = Array.isArray(votes) && votes.length === 1;
  return isRight && isOne
    ? { approved }
    : { approved, wrong: `${approval}: ${statuses}, ${status}, ${votes}` };
}

const LANES = 6;

export async function raceDecisions(target: Target, races: number): Promise<Raced> {
  const wrong: string[] = [];
  let approved = 0;
  const numbers = Array.from({ length: races }).keys();
  await inLanes(LANES, Array.from({ length: LANES }), async () => {
    const desk = await openDesk(target);
    for (const n of numbers) {
      const one = await race(desk, n);
      if (one.approved) approved++;
      if (one.wrong !== undefined) wrong.push(one.wrong);
    }
    desk.close();
  });
  return { races, approved, wrong };
}

type Attempt = (desk: Desk, approval: string, seen: Body) => Promise<Said>;

/** Of an approval that was decided: by others and by the same person, the same and the opposite, on both surfaces. */
const ATTEMPTS: readonly Attempt[] = [
  (desk, id) => desk.as("bob", id, APPROVE),
  (desk, id) => desk.as("bob", id, REJECT),
  (desk, id) => desk.as("bob", id, { ...APPROVE, edit: { amount: 9 } }),
  (desk, id, { binding }) => desk.as("bob", id, { ...APPROVE, binding }),
  (desk, id) => desk.as("bob", id, { ...APPROVE, binding: "0".repeat(64) }),
  (desk, id) => desk.submit("bob", { request_id: id, decision: "APPROVED" }),
  (desk, id) => desk.submit("bob", { request_id: id, decision: "REJECTED", rationale: "no" }),
  (desk, id) => desk.submit("bob", { request_id: id, decision: "MODIFIED", modifications: { amount: 9 } }),
];
/** The very same once more: answered as before, and counted once. */
const REPLAYS: readonly Attempt[] = [
  (desk, id, { status }) => desk.as("ann", id, status === "rejected" ? REJECT : APPROVE),
  (desk, id, { status, binding }) =>
    desk.as("ann", id, { ...(status === "rejected" ? REJECT : APPROVE), binding }),
];
/** Of one that still waits: what was seen is not what is there. */
const STALE: readonly Attempt[] = [
  (desk, id) => desk.as("ann", id, { ...APPROVE, binding: "0".repeat(64) }),
  (desk, id) => desk.as("bob", id, { ...REJECT, binding: "0".repeat(64) }),
  (desk, id) => desk.submit("ann", { request_id: id, decision: "APPROVED", binding: "0".repeat(64) }),
];

const standingOf = ({ status, votes, args, binding }: Body): string =>
  JSON.stringify({ status, votes, args, binding });

/** Ends it in one of the ways in which approvals end. */
async function decide(desk: Desk, approval: string, number: number): Promise<void> {
  const ballot = number % 2 === 0 ? APPROVE : REJECT;
  const { status, body } = await desk.as("ann", approval, ballot);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

/** How many were sent. */
async function comeLate(desk: Desk, number: number, wrong: string[]): Promise<number> {
  const approval = await desk.propose();
  const isStale = number % 4 === 0;
  if (!isStale) await decide(desk, approval, number);
  const before = await desk.get(approval);
  const attempts = isStale ? STALE : ATTEMPTS;
  for (const attempt of attempts) {
    const { status, body } = await attempt(desk, approval, before);
    if (status !== 409) wrong.push(`answered ${status}: ${JSON.stringify(body)}`);
  }
  const replays = isStale ? [] : REPLAYS;
  for (const replay of replays) await replay(desk, approval, before);
  const after = await desk.get(approval);
  if (standingOf(after) !== standingOf(before))
    wrong.push(`${standingOf(before)} became ${standingOf(after)}`);
  return attempts.length + replays.length;
}

export async function decideLate(target: Target, count: number): Promise<Late> {
  const wrong: string[] = [];
  let sent = 0;
  let number = 0;
  await inLanes(LANES, Array.from({ length: LANES }), async () => {
    const desk = await openDesk(target);
    while (sent < count) sent += await comeLate(desk, number++, wrong);
    desk.close();
  });
  return { sent, wrong };
}
