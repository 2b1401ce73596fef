/** Workflows on the memory store, under a clock that the test moves or sets: processes that come, die and come back. */

import assert from "node:assert/strict";
import { type Intents, intentMethods } from "../../src/agents/intents/verbs.ts";
import type { Approvals } from "../../src/approvals/contract.ts";
import { approvalsOf } from "../../src/approvals/verbs.ts";
import { budgetVerbs } from "../../src/budgets/verbs.ts";
import { putSecret } from "../../src/effects/arguments.ts";
import type { ToolDefinition } from "../../src/effects/define-tool.ts";
import { type GatedTool, gate } from "../../src/effects/gate.ts";
import type { Tool } from "../../src/effects/tool.ts";
import { actionVerbs } from "../../src/effects/verbs.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { KillSwitch } from "../../src/kill-switch/contract.ts";
import { bindKillSwitch } from "../../src/kill-switch/verbs.ts";
import { MAINTENANCE_INTERVALS } from "../../src/runtime/maintenance.ts";
import type { Notice } from "../../src/runtime/notices.ts";
import { type OpenRuntime, openRuntime } from "../../src/runtime/open.ts";
import type { CrashPoint } from "../../src/runtime/runtime.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import { type Journal, journalOf } from "../../src/runtime/verbs.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/stores/memory/database.ts";
import { type MemoryStore, openMemoryStore } from "../../src/stores/memory/open.ts";
import { FOLDS } from "../../src/streams.ts";
import { openModel } from "../../src/supervise/models/open-model.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { supervise } from "../../src/supervise/supervise.ts";
import { randomOf } from "../../src/testing/store-contract/fixture.ts";
import type {
  Current,
  Definition,
  Workflow,
  WorkflowBody,
  WorkflowOptions,
} from "../../src/workflows/definition.ts";
import { entriesOf } from "../../src/workflows/entries.ts";
import type { WorkflowEntry } from "../../src/workflows/rules/operations.ts";
import { currentIn } from "../../src/workflows/run/context.ts";
import { createDispatcher } from "../../src/workflows/run/dispatch.ts";
import { declareWorkflow } from "../../src/workflows/start.ts";
import { type Workflows, workflowsOf } from "../../src/workflows/verbs.ts";
import type { WorkflowDetails } from "../../src/workflows/views.ts";
import { PROJECTIONS, SIGNING, START, settled } from "../fixtures/runtime.ts";

export const ANN = { by: "person:ann" };
export const BOB = { by: "person:bob" };
export const DAY = 86_400_000;

type Sleeper = { readonly at: number; readonly wake: () => void };

export type SetClock = Clock & {
  /** Puts the clock to another time, forwards or back, and wakes whoever slept until then. */
  set(time: number): Promise<void>;
};

export function setClock(start = START): SetClock {
  let now = start;
  // How long somebody has slept does not depend on what the clock is set to.
  let steady = 0;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    elapsed: () => steady,
    sleep: (ms, signal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve();
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper: Sleeper = { at: steady + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
      }),
    async set(time) {
      steady += Math.max(time - now, 0);
      now = time;
      for (const sleeper of [...sleepers]) if (sleeper.at <= steady) sleeper.wake();
      await settled(3);
    },
  };
}

export type Desk = {
  readonly runtime: OpenRuntime;
  readonly store: MemoryStore;
  readonly notices: Notice[];
  readonly approvals: Approvals;
  readonly actions: Holdpoint["actions"];
  readonly journal: Journal;
  readonly budgets: Holdpoint["budgets"];
  readonly switch: KillSwitch;
  readonly workflows: Workflows;
  readonly intents: Intents;
  gate<Args, Result>(definition: ToolDefinition<Args, Result>): GatedTool<Args, Result>;
  workflow<Input, Result>(
    name: string,
    options: WorkflowOptions<Input>,
    body: WorkflowBody<Input, Result>,
  ): Workflow<Input, Result>;
  supervise(options: SuperviseOptions): Promise<SuperviseResult>;
  current(): Current | undefined;
  putSecret(value: string): ReturnType<typeof putSecret>;
  /** Looks for workflows that have something to do. */
  work(): Promise<void>;
  entries(id: string): Promise<readonly WorkflowEntry[]>;
  /** Dies where it stands: what it holds is free, and nothing that it does reaches the store any more. */
  crash(): void;
  close(): Promise<void>;
};

export type DeskOptions = {
  readonly agent?: string;
  readonly reach?: (point: CrashPoint) => void | Promise<void>;
  /** Names of definitions that its epoch says it has; it says nothing unless set. */
  readonly says?: readonly string[];
};

export type Office = {
  readonly clock: SetClock;
  readonly database: MemoryDatabase;
  open(options?: DeskOptions): Desk;
  /** Lets time pass in small steps until the promise settles. */
  finish<Value>(promise: Promise<Value>): Promise<Value>;
  /** Lets time pass in small steps until it answers something. */
  until<Value>(look: () => Promise<Value | undefined | false>): Promise<Value>;
  /** Lets that much time pass in small steps. */
  pass(ms: number): Promise<void>;
};

const STEP_MS = 100;
const MOST_STEPS = 1_500;

function timeOf(clock: SetClock): Pick<Office, "finish" | "until" | "pass"> {
  const step = async (ms: number) => {
    await settled(4);
    await clock.set(clock.now() + ms);
  };
  return {
    async finish<Value>(promise: Promise<Value>): Promise<Value> {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      promise.then(over, over);
      for (let steps = 0; !isOver && steps < MOST_STEPS; steps++) await step(STEP_MS);
      assert.ok(isOver, "it goes on for ever");
      return promise;
    },
    async until(look) {
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        const found = await look();
        if (found !== undefined && found !== false) return found;
        await step(STEP_MS);
      }
      return assert.fail("it never happened");
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) await step(Math.min(left, STEP_MS));
    },
  };
}

async function entriesIn(runtime: OpenRuntime, id: string): Promise<readonly WorkflowEntry[]> {
  const entries: WorkflowEntry[] = [];
  for await (const entry of entriesOf(runtime, id)) entries.push(entry);
  return entries;
}

export function office(seed = 1, leaseMs?: number): Office {
  const clock = setClock();
  const random = randomOf(seed);
  const lease = leaseMs === undefined ? {} : { leaseMs };
  const database = createMemoryDatabase({ folds: FOLDS, projections: PROJECTIONS, clock, random, ...lease });
  let processes = 0;
  return {
    clock,
    database,
    ...timeOf(clock),
    open(options = {}) {
      const store = openMemoryStore(database);
      const notices: Notice[] = [];
      const tools = new Map<string, Tool>();
      const agent = `agent:${options.agent ?? "tester"}`;
      const runtime = openRuntime({
        store,
        tenant: "acme",
        agent,
        requester: [agent],
        clock,
        idle: clock,
        random,
        tools,
        environment: () => undefined,
        keyring: () => ({ signing: SIGNING, secrets: new Uint8Array(32).fill(7) }),
        notify: (notice) => void notices.push(notice),
        reach: options.reach ?? (() => undefined),
        process: `test/${++processes}`,
        ...(options.says === undefined ? {} : { definitions: () => options.says ?? [] }),
        rhythm: MAINTENANCE_INTERVALS,
        seals: false,
      });
      const open = async () => runtime;
      const known = new Map<string, Definition>();
      const dispatcher = createDispatcher(runtime, clock, known);
      const definitions = { known, open: async () => ({ runtime, dispatcher }) };
      const gates = { tools, warned: new Set<string>(), open };
      return {
        runtime,
        store,
        notices,
        approvals: approvalsOf(open),
        actions: bindLibrary(open, actionVerbs),
        journal: journalOf(open),
        budgets: bindLibrary(open, budgetVerbs),
        switch: bindKillSwitch(open),
        workflows: workflowsOf(definitions),
        intents: intentMethods(open),
        gate: (definition) => gate(gates, definition),
        supervise: (given) =>
          supervise({ definitions, gates, openModel: (model) => openModel(model, () => undefined) }, given),
        workflow: (name, given, body) => declareWorkflow(definitions, name, given, body),
        current: () => currentIn(tools),
        putSecret: (value) => putSecret(open, value),
        async work() {
          await runtime.epoch();
          dispatcher.work();
        },
        entries: (id) => entriesIn(runtime, id),
        crash: () => store.crash(),
        close: () => runtime.close(),
      };
    },
  };
}

/** The approvals that are open, oldest first, as soon as there are so many. */
export function waiting(place: Office, desk: Desk, count = 1): Promise<readonly string[]> {
  return place.until(async () => {
    const { items } = await desk.approvals.list();
    return items.length >= count && items.map(({ id }) => id);
  });
}

/** The one approval that is open. */
export async function question(place: Office, desk: Desk): Promise<string> {
  const [first] = await waiting(place, desk);
  return first ?? assert.fail("nothing waits");
}

/** As soon as nobody runs it and nothing is to be done: it waits, or it is over. */
export function atRest(place: Office, desk: Desk, id: string): Promise<WorkflowDetails> {
  return place.until(async () => {
    const state = await desk.workflows.get(id);
    return state.runner === null && !state.isReady && state;
  });
}

export const types = (entries: readonly WorkflowEntry[]): readonly string[] =>
  entries.map(({ type }) => type);

/** Another process in place of one that dies now. */
export async function reopen(place: Office, dead: Desk, setUp: (desk: Desk) => unknown): Promise<Desk> {
  dead.crash();
  const desk = place.open();
  setUp(desk);
  await desk.work();
  return desk;
}
