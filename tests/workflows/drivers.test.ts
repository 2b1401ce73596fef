/**
 * One table for both drivers of a workflow: a definition that a process runs, and a remote agent that calls methods.
 * Both do the same work, ask the same people and have to come to the same end, also where the process that they talk to
 * dies before or after any of its commits.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Permit, RemoteAnswer } from "../../src/agents/contract.ts";
import { type Remote, remoteMethods } from "../../src/agents/verbs.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import { settled } from "../fixtures/runtime.ts";
import { type Death, deaths, dieAt, told } from "./death.ts";
import { ANN, type Desk, type Office, office } from "./office.ts";

const FAR = { agent: "agent:far" };

/** What really happened, in order. A receiver that knows a key does nothing again. */
type Outside = { readonly done: string[]; readonly keys: Set<string> };

function happen({ done, keys }: Outside, key: string, line: string): void {
  if (!keys.has(key)) done.push(line);
  keys.add(key);
}

type Step = { readonly call: "book" | "mail"; readonly n: number } | { readonly checkpoint: string };
type Plan = {
  readonly steps: readonly Step[];
  readonly attempts?: number;
  readonly onIrreversible?: "fail" | "continue";
  readonly timeoutSeconds?: number | null;
};
type Checkpoint = { readonly name: string; readonly timeoutSeconds: number | null };

const checkpointsOf = ({ steps, timeoutSeconds = null }: Plan): readonly Checkpoint[] =>
  steps.flatMap((step) => ("checkpoint" in step ? [{ name: step.checkpoint, timeoutSeconds }] : []));

const terms = ({ attempts = 5, onIrreversible = "fail" }: Plan) => ({ attempts, onIrreversible });

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

const remoteOf = ({ runtime }: Desk): Remote =>
  remoteMethods({ tools: runtime.tools as never, warned: new Set(), open: async () => runtime });

/** An agent that knows nothing but what the server answers, and asks for everything under the same request ids. */
class Agent {
  readonly #desk: Desk;
  readonly #remote: Remote;
  readonly #plan: Plan;
  readonly #outside: Outside;

  constructor(desk: Desk, plan: Plan, outside: Outside) {
    this.#desk = desk;
    this.#remote = remoteOf(desk);
    this.#plan = plan;
    this.#outside = outside;
  }

  async begin(): Promise<string> {
    const { workflows, tool } = this.#remote;
    tool({ name: "book", policy: "approve", effect: "idempotent", undo: true });
    tool({ name: "mail", policy: "approve", effect: "idempotent" });
    const creation = { name: "trip", checkpoints: checkpointsOf(this.#plan), requestId: "r", by: FAR.agent };
    const create = () => workflows.create({ ...creation, ...terms(this.#plan) });
    const id = await create().catch(create);
    void this.#work(id);
    return id;
  }

  async #work(id: string): Promise<void> {
    for (;;) {
      try {
        const flow = await this.#remote.workflows.get(id);
        if (flow.end !== null) return;
        if (flow.status === "initialized") await this.#remote.workflows.start(id, FAR);
        else if (flow.status === "rolling_back") await this.#goBack(id);
        else if (flow.status === "executing") await this.#goOn(id);
      } catch (error) {
        // The workflow has moved in the meantime, or the answer was lost: the agent looks again.
        if (!isHoldpointError(error)) throw error;
      }
      await this.#desk.runtime.clock.sleep(100, undefined as never);
    }
  }

  async #perform(answer: RemoteAnswer, key: string, line: string): Promise<void> {
    if (answer.status !== "permitted") return;
    const { action } = answer as Permit;
    happen(this.#outside, key, line);
    await this.#remote.report(action, { ...FAR, status: "applied", result: { key } });
  }

  async #goOn(id: string): Promise<void> {
    const { workflows, propose } = this.#remote;
    const { attempt, passed, lastDecision } = await workflows.get(id);
    const { steps } = this.#plan;
    const last = passed.at(-1)?.name;
    const from = steps.findIndex((step) => "checkpoint" in step && step.checkpoint === last) + 1;
    for (const [index, step] of steps.entries()) {
      if (index < from) continue;
      const requestId = `${attempt}-${index}`;
      if ("call" in step) {
        const { call: tool, n } = step;
        const answer = await propose({ tool, args: { n }, workflow: id, requestId, ...FAR });
        await this.#perform(answer, requestId, `${tool} ${n}`);
      } else {
        const { checkpoint } = step;
        const outputs = { city: "Rome" };
        const { kind } = await workflows.checkpoint(id, { checkpoint, outputs, requestId, ...FAR });
        if (kind !== "passed") return;
      }
    }
    await workflows.complete(id, { ...FAR, result: lastDecision?.outputs ?? null });
  }

  async #goBack(id: string): Promise<void> {
    const { workflows, report } = this.#remote;
    for (const { undoes, action, args, attempt } of await workflows.compensations(id)) {
      const [key, line] = [`undo ${undoes} ${attempt}`, `undo book ${(args as { n: number }).n}`];
      if (action === null) await this.#perform(await workflows.undo(id, { undoes, ...FAR }), key, line);
      // The answer was lost. An undo is of the class `once`: the agent says whether it has performed it.
      else if (this.#outside.keys.has(key)) await report(action, { ...FAR, status: "applied" });
      else await report(action, { ...FAR, status: "not_applied", reason: "the permit was lost" });
    }
  }
}

const DRIVERS: { readonly [name: string]: Driver } = {
  "a definition": runDefinition,
  "a remote agent": (desk, plan, outside) => new Agent(desk, plan, outside).begin(),
};

/** What people do at a question: `before` counts the decisions at this checkpoint until then. */
type People = (asked: {
  readonly place: Office;
  readonly desk: Desk;
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
  {
    name: "gets what people changed",
    plan: TRIP,
    people: ({ desk, approval }) => desk.approvals.approve(approval, { ...ANN, edit: { city: "Oslo" } }),
    done: ["book 1", "book 2", "book 3"],
    ends: { status: "completed", result: { city: "Oslo" } },
    workflow: { lastDecision: { decision: "modified", outputs: { city: "Oslo" } } },
    history: ["checkpoint Plan modified", "checkpoint Result modified", "workflow completed"],
  },
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
  {
    name: "is rejected for good: what it did since is undone, and it has failed",
    plan: TRIP,
    people: (asked) => (asked.checkpoint === "Result" ? reject(asked, { final: true }) : approve(asked)),
    done: ["book 1", "book 2", "book 3", "undo book 3", "undo book 2"],
    ends: { status: "failed", code: "rejected", reason: "not like this", report: { notUndone: [] } },
    history: [
      ...["checkpoint Plan approved", "checkpoint Result rejected", "rollback Plan done"],
      ...["undo book undone", "undo book undone", "workflow rejected failed"],
    ],
  },
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
  {
    name: "asks nobody who decides in time: it goes back, and has failed",
    plan: { ...TRIP, attempts: 1, timeoutSeconds: 2 },
    people: async () => undefined,
    done: ["book 1", "undo book 1"],
    ends: { status: "failed", code: "expired" },
    history: ["checkpoint Plan expired", "rollback  done", "undo book undone", "workflow expired failed"],
  },
  {
    name: "is cancelled while people are asked: what was done stays done",
    plan: TRIP,
    people: (asked) =>
      asked.checkpoint === "Result"
        ? asked.desk.workflows.cancel(asked.workflow, { ...ANN, reason: "no more need" })
        : approve(asked),
    done: ["book 1", "book 2", "book 3"],
    ends: { status: "failed", code: "cancelled", by: "person:ann", reason: "no more need" },
    history: ["checkpoint Plan approved", "checkpoint Result withdrawn", "workflow cancelled failed"],
  },
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

/** Lets people decide what is asked now. */
async function decide(
  place: Office,
  desk: Desk,
  people: People,
  decided: Map<string, string>,
): Promise<void> {
  for (const { id: approval, tool: checkpoint } of (await desk.approvals.list()).items) {
    if (decided.has(approval)) continue;
    const before = [...decided.values()].filter((one) => one === checkpoint).length;
    decided.set(approval, checkpoint);
    const { workflow } = await desk.approvals.get(approval);
    await people({ place, desk, approval, workflow: workflow ?? "", checkpoint, before });
  }
}

async function play(driver: Driver, { plan, people }: Scenario, death: Death) {
  const place = office(death.commit + 1);
  const outside: Outside = { done: [], keys: new Set() };
  const others = place.open({ agent: "people" });
  const first = place.open();
  const counter = dieAt(first, death);
  const decided = new Map<string, string>();
  let desk = first;
  void driver(first, plan, outside);
  const id = await place.until(async () => {
    await decide(place, others, people, decided);
    if (desk === first && counter.isDead()) {
      desk = place.open();
      void driver(desk, plan, outside);
    }
    const { items } = await others.workflows.list();
    return items.find(({ endedAt }) => endedAt !== null)?.id;
  });
  await settled(3);
  const result = await others.workflows.result(id);
  const workflow = await others.workflows.get(id);
  const timeline = await others.workflows.timeline(id);
  const commits = counter.count();
  await desk.close();
  await others.close();
  return { result, workflow, timeline, done: outside.done, commits };
}

const SHOWN: readonly string[] = ["checkpoint", "rollback", "undo", "workflow"];

function check(scenario: Scenario, played: Awaited<ReturnType<typeof play>>): void {
  const { result, workflow, timeline, done } = played;
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

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(`a workflow driven by ${name}`, () => {
    for (const scenario of SCENARIOS)
      test(scenario.name, async () => check(scenario, await play(driver, scenario, NO_TROUBLE)));
  });

  describe(`a workflow driven by ${name} that is sent back, whose process`, async () => {
    const { commits } = await play(driver, SENT_BACK, NO_TROUBLE);
    for (const death of deaths(commits))
      test(told(death), async () => check(SENT_BACK, await play(driver, SENT_BACK, death)));
  });
}
