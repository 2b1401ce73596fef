/**
 * One table for both drivers of a workflow: a definition that a process runs, and a remote agent that calls methods or
 * goes over HTTP. They do the same work, ask the same people and have to come to the same end, also where the process
 * that they talk to dies before or after any of its commits.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { createClient } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import { memoryTenant } from "../../src/stores/memory/database.ts";
import { settled } from "../fixtures/runtime.ts";
import { serverSite } from "../fixtures/server.ts";
import {
  Agent,
  byMethods,
  checkpointsOf,
  declareTools,
  happen,
  type Outside,
  overHttp,
  type Plan,
  terms,
} from "./agent.ts";
import { type Death, deathsAt, dieAt, told } from "./death.ts";
import { ANN, type Desk, office } from "./office.ts";

/** Begins the work in a process, or goes on with it in another one. Answers the workflow's id. */
type Driver = (desk: Desk, plan: Plan, outside: Outside) => Promise<string>;

async function runDefinition(desk: Desk, plan: Plan, outside: Outside): Promise<string> {
  const undo = ({ n }: { n: number }, { key }: { key: string }) =>
    happen(outside, `undo ${key}`, `undo book ${n}`);
  const made = (name: string, more: object) =>
    desk.gate<{ n: number }, { key: string }>({
      name,
      policy: "approve",
      effect: "idempotent",
      run: ({ n }: { n: number }, { requestId }: { requestId: string }) => {
        happen(outside, requestId, `${name} ${n}`);
        return { key: requestId };
      },
      ...more,
    } as never);
  const tools = { book: made("book", { undo }), mail: made("mail", {}) };
  const options = { ...terms(plan), checkpoints: checkpointsOf(plan) };
  const flow = desk.workflow("trip", options, async (ctx, _: object) => {
    let outputs: unknown = null;
    for (const step of plan.steps)
      if ("call" in step) await ctx.call(tools[step.call], { n: step.n });
      else ({ outputs } = await ctx.checkpoint(step.checkpoint, { outputs: { city: "Rome" } }));
    return outputs;
  });
  const start = () => flow.start({}, { requestId: "r" });
  return (await start().catch(start)).id;
}

async function driveRemotely(desk: Desk, plan: Plan, outside: Outside): Promise<string> {
  const agent = new Agent(byMethods(desk), plan, outside);
  const id = await agent.create().catch(() => agent.create());
  void agent.work(id);
  return id;
}

const DRIVERS: { readonly [name: string]: Driver } = {
  "a definition": runDefinition,
  "a remote agent": driveRemotely,
};

type Counter = Pick<Holdpoint, "approvals" | "workflows">;
/** What people do at a question: `before` counts the decisions at this checkpoint until then. */
type People = (asked: {
  readonly desk: Counter;
  readonly approval: string;
  readonly workflow: string;
  readonly checkpoint: string;
  readonly before: number;
}) => Promise<unknown>;

const approve: People = ({ desk, approval }) => desk.approvals.approve(approval, ANN);
const reject = ({ desk, approval }: Parameters<People>[0], more: object = {}) =>
  desk.approvals.reject(approval, { ...ANN, reason: "not like this", ...more });

type Scenario = {
  readonly name: string;
  readonly plan: Plan;
  readonly people: People;
  readonly done: readonly string[];
  readonly ends: JsonObject;
  readonly workflow?: JsonObject;
  /** Checkpoints, rollbacks, undos and the end, as the timeline has them. */
  readonly history: readonly string[];
};

const TRIP: Plan = {
  steps: [
    { call: "book", n: 1 },
    { checkpoint: "Plan" },
    { call: "book", n: 2 },
    { call: "book", n: 3 },
    { checkpoint: "Result" },
  ],
};

const SENT_BACK: Scenario = {
  name: "is rejected once, undoes what came after the last approval, newest first, and tries again",
  plan: TRIP,
  people: (asked) => (asked.checkpoint === "Result" && asked.before === 0 ? reject(asked) : approve(asked)),
  done: ["book 1", "book 2", "book 3", "undo book 3", "undo book 2", "book 2", "book 3"],
  ends: { status: "completed", result: { city: "Rome" } },
  workflow: { attempt: 2, rolledBack: { reason: "not like this", after: "again", notUndone: [] } },
  history: [
    ...["checkpoint Plan approved", "checkpoint Result rejected", "rollback Plan done"],
    ...["undo book undone", "undo book undone", "checkpoint Result approved", "workflow completed"],
  ],
};

const MODIFIED: Scenario = {
  name: "gets what people changed",
  plan: TRIP,
  people: ({ desk, approval }) => desk.approvals.approve(approval, { ...ANN, edit: { city: "Oslo" } }),
  done: ["book 1", "book 2", "book 3"],
  ends: { status: "completed", result: { city: "Oslo" } },
  workflow: { lastDecision: { decision: "modified", outputs: { city: "Oslo" } } },
  history: ["checkpoint Plan modified", "checkpoint Result modified", "workflow completed"],
};

const REJECTED_FOR_GOOD: Scenario = {
  name: "is rejected for good: what it did since is undone, and it has failed",
  plan: TRIP,
  people: (asked) => (asked.checkpoint === "Result" ? reject(asked, { final: true }) : approve(asked)),
  done: ["book 1", "book 2", "book 3", "undo book 3", "undo book 2"],
  ends: { status: "failed", code: "rejected", reason: "not like this", report: { notUndone: [] } },
  history: [
    ...["checkpoint Plan approved", "checkpoint Result rejected", "rollback Plan done"],
    ...["undo book undone", "undo book undone", "workflow rejected failed"],
  ],
};

const EXPIRED: Scenario = {
  name: "gets no decision in time: it goes back, and has failed",
  plan: { ...TRIP, attempts: 1, timeoutSeconds: 2 },
  people: async () => undefined,
  done: ["book 1", "undo book 1"],
  ends: { status: "failed", code: "expired" },
  history: ["checkpoint Plan expired", "rollback  done", "undo book undone", "workflow expired failed"],
};

const CANCELLED: Scenario = {
  name: "is cancelled while people are asked: what was done stays done",
  plan: TRIP,
  people: (asked) =>
    asked.checkpoint === "Result"
      ? asked.desk.workflows.cancel(asked.workflow, { ...ANN, reason: "no more need" })
      : approve(asked),
  done: ["book 1", "book 2", "book 3"],
  ends: { status: "failed", code: "cancelled", by: "person:ann", reason: "no more need" },
  history: ["checkpoint Plan approved", "checkpoint Result withdrawn", "workflow cancelled failed"],
};

const SCENARIOS: readonly Scenario[] = [
  {
    name: "is approved at each checkpoint, and completes",
    plan: TRIP,
    people: approve,
    done: ["book 1", "book 2", "book 3"],
    ends: { status: "completed", result: { city: "Rome" } },
    workflow: { attempt: 1, tally: { snapshots: 2, questions: 2, decisions: 2 } },
    history: ["checkpoint Plan approved", "checkpoint Result approved", "workflow completed"],
  },
  MODIFIED,
  SENT_BACK,
  {
    name: "is rejected at its first checkpoint, and begins again",
    plan: TRIP,
    people: (asked) => (asked.checkpoint === "Plan" && asked.before === 0 ? reject(asked) : approve(asked)),
    done: ["book 1", "undo book 1", "book 1", "book 2", "book 3"],
    ends: { status: "completed" },
    workflow: { attempt: 2 },
    history: [
      ...["checkpoint Plan rejected", "rollback  done", "undo book undone", "checkpoint Plan approved"],
      ...["checkpoint Result approved", "workflow completed"],
    ],
  },
  REJECTED_FOR_GOOD,
  {
    name: "is rejected in its last attempt, and has failed",
    plan: { ...TRIP, attempts: 2 },
    people: (asked) => (asked.checkpoint === "Plan" ? reject(asked) : approve(asked)),
    done: ["book 1", "undo book 1", "book 1", "undo book 1"],
    ends: { status: "failed", code: "rejected" },
    workflow: { attempt: 2 },
    history: [
      ...["checkpoint Plan rejected", "rollback  done", "undo book undone", "checkpoint Plan rejected"],
      ...["rollback  done", "undo book undone", "workflow rejected failed"],
    ],
  },
  EXPIRED,
  CANCELLED,
  {
    name: "cannot undo everything, says what, and has failed",
    plan: { steps: [{ call: "book", n: 1 }, { call: "mail", n: 2 }, { checkpoint: "Result" }] },
    people: (asked) => reject(asked),
    done: ["book 1", "mail 2", "undo book 1"],
    ends: { status: "failed", code: "rollback_failed", report: { irreversible: [{ tool: "mail" }] } },
    history: [
      ...["checkpoint Result rejected", "rollback  done", "undo book undone"],
      "workflow rollback_failed failed",
    ],
  },
  {
    name: "cannot undo everything, and goes on where that was allowed",
    plan: {
      onIrreversible: "continue",
      steps: [{ call: "book", n: 1 }, { call: "mail", n: 2 }, { checkpoint: "Result" }],
    },
    people: (asked) => (asked.before === 0 ? reject(asked) : approve(asked)),
    done: ["book 1", "mail 2", "undo book 1", "book 1", "mail 2"],
    ends: { status: "completed" },
    workflow: { attempt: 2, irreversible: [{ tool: "mail" }] },
    history: [
      ...["checkpoint Result rejected", "rollback  done", "undo book undone"],
      ...["checkpoint Result approved", "workflow completed"],
    ],
  },
];

type Decided = { readonly checkpoint: string; readonly done: Promise<unknown> };

/** Lets people decide what is asked now. An edit is answered when a process has looked at it, so no decision is awaited. */
async function decide(desk: Counter, people: People, decided: Map<string, Decided>): Promise<void> {
  for (const { id: approval, tool: checkpoint } of (await desk.approvals.list()).items) {
    if (decided.has(approval)) continue;
    const before = [...decided.values()].filter((one) => one.checkpoint === checkpoint).length;
    const { workflow } = await desk.approvals.get(approval);
    const done = people({ desk, approval, workflow: workflow ?? "", checkpoint, before });
    decided.set(approval, { checkpoint, done });
  }
}

type Played = {
  readonly result: unknown;
  readonly workflow: { readonly open: readonly string[] };
  readonly timeline: Awaited<ReturnType<Holdpoint["workflows"]["timeline"]>>;
  readonly done: readonly string[];
};
/** Types of all entries, and how many there were after each commit of the first process. */
type Trail = { readonly entries: readonly string[]; readonly commits: readonly number[] };

async function played({ workflows }: Counter, id: string, { done }: Outside): Promise<Played> {
  const [result, workflow] = [await workflows.result(id), await workflows.get(id)];
  return { result, workflow, timeline: await workflows.timeline(id), done };
}

async function play(driver: Driver, { plan, people }: Scenario, death: Death): Promise<Played & Trail> {
  const place = office(death.commit + 1);
  const outside: Outside = { done: [], keys: new Set() };
  const others = place.open({ agent: "people" });
  const first = place.open();
  const { log } = memoryTenant(place.database, "acme");
  const commits: number[] = [];
  const { isDead, end } = dieAt(first, death, () => commits.push(log.length));
  const decided = new Map<string, Decided>();
  let desk = first;
  void driver(first, plan, outside);
  const id = await place.until(async () => {
    await decide(others, people, decided);
    if (desk === first && isDead()) {
      desk = place.open();
      void driver(desk, plan, outside);
    }
    const { items } = await others.workflows.list();
    return items.find(({ endedAt }) => endedAt !== null)?.id;
  });
  // What it commits from here on, such as its close, is not part of the workflow.
  const known = [...commits];
  end();
  for (const { done } of decided.values()) await place.finish(done);
  await settled(3);
  const came = await played(others, id, outside);
  const entries = log.map(({ header }) => String((JSON.parse(header) as JsonObject)["type"]));
  if (desk !== first || !isDead()) await desk.close();
  await others.close();
  return { ...came, entries, commits: known };
}

/** The agent and the people take turns: people decide when the agent has done what it can. */
async function playOverHttp(t: Pick<TestContext, "after">, { plan, people }: Scenario): Promise<Played> {
  const { bench, hp } = await serverSite(t);
  declareTools(hp.remote);
  const outside: Outside = { done: [], keys: new Set() };
  const decided = new Map<string, Decided>();
  const client = createClient({ server: bench.url });
  const server = overHttp(client, plan, async () => {
    await decide(hp, people, decided);
    await Promise.all([...decided.values()].map(({ done }) => done));
  });
  const agent = new Agent(server, plan, outside);
  const id = await agent.create();
  await agent.work(id);
  return played(hp, id, outside);
}

const SHOWN: readonly string[] = ["checkpoint", "rollback", "undo", "workflow"];

function check(scenario: Scenario, { result, workflow, timeline, done }: Played): void {
  assert.deepEqual(done, scenario.done);
  assert.partialDeepStrictEqual(result, scenario.ends);
  assert.partialDeepStrictEqual(workflow, scenario.workflow ?? {});
  assert.deepEqual(workflow.open, []);
  const rows = timeline.filter(({ kind, status }) => SHOWN.includes(kind) && status !== "created");
  // An undo whose permit was lost is not undone, and asked for once more.
  const words = rows
    .filter(({ status }) => status !== "refused" && status !== "not_undone")
    .map(({ kind, name, status }) =>
      name === "" && kind === "workflow" ? [kind, status] : [kind, name, status],
    );
  assert.deepEqual(
    words.map((row) => row.join(" ")),
    scenario.history,
  );
}

const NO_TROUBLE: Death = { commit: 0, when: "before" };

/** Each is killed at the commits that the scenarios before it do not have. */
const KILLED = [SENT_BACK, MODIFIED, REJECTED_FOR_GOOD, EXPIRED, CANCELLED];

/** Commits from the last one that a trail before had too; the next thing that happens differs. */
function ownCommits({ entries, commits }: Trail, before: readonly Trail[]): readonly number[] {
  const isKnown = (count: number) =>
    before.some((other) => isDeepStrictEqual(other.entries.slice(0, count), entries.slice(0, count)));
  const known = commits.filter(isKnown).length;
  return commits.map((_count, index) => index + 1).slice(Math.max(known - 1, 0));
}

type Killing = { readonly scenario: Scenario; readonly commits: readonly number[] };

async function planKilling(driver: Driver): Promise<readonly Killing[]> {
  const trails: Trail[] = [];
  const killing: Killing[] = [];
  for (const scenario of KILLED) {
    const trail = await play(driver, scenario, NO_TROUBLE);
    killing.push({ scenario, commits: ownCommits(trail, trails) });
    trails.push(trail);
  }
  return killing;
}

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(`a workflow driven by ${name}`, () => {
    for (const scenario of SCENARIOS)
      test(scenario.name, async () => check(scenario, await play(driver, scenario, NO_TROUBLE)));
  });

  describe(`a workflow driven by ${name}, whose process`, async () => {
    for (const { scenario, commits } of await planKilling(driver))
      for (const death of deathsAt(commits))
        test(`${told(death)}: ${scenario.name}`, async () =>
          check(scenario, await play(driver, scenario, death)));
  });
}

describe("a workflow driven by a remote agent over HTTP", () => {
  for (const scenario of [MODIFIED, SENT_BACK])
    test(scenario.name, async (t) => check(scenario, await playOverHttp(t, scenario)));
});
