/**
 * A remote agent that carries out a plan, and the servers that it can ask: the methods of a process, or HTTP. It knows
 * nothing but what the server answers, and asks for everything under the same request ids.
 */
import { type Remote, remoteMethods } from "../../src/agents/verbs.ts";
import { type Client, isClientError } from "../../src/client/client.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { Desk } from "./office.ts";

export const FAR = { agent: "agent:far" };

/** What really happened, in order. A receiver that knows a key does nothing again. */
export type Outside = { readonly done: string[]; readonly keys: Set<string> };

export function happen({ done, keys }: Outside, key: string, line: string): void {
  if (!keys.has(key)) done.push(line);
  keys.add(key);
}

type Step = { readonly call: "book" | "mail"; readonly n: number } | { readonly checkpoint: string };
export type Plan = {
  readonly steps: readonly Step[];
  readonly attempts?: number;
  readonly onIrreversible?: "fail" | "continue";
  readonly timeoutSeconds?: number | null;
};
type Checkpoint = { readonly name: string; readonly timeoutSeconds: number | null };

export const checkpointsOf = ({ steps, timeoutSeconds = null }: Plan): readonly Checkpoint[] =>
  steps.flatMap((step) => ("checkpoint" in step ? [{ name: step.checkpoint, timeoutSeconds }] : []));

export const terms = ({ attempts = 5, onIrreversible = "fail" }: Plan) => ({ attempts, onIrreversible });

/** As the agent sees it. `passed`: the name of the last checkpoint. */
type Flow = {
  readonly isOver: boolean;
  readonly status: string;
  readonly attempt: number;
  readonly passed: string | undefined;
  readonly outputs: unknown;
};
type Undo = {
  readonly undoes: string;
  readonly action: string | null;
  readonly args: unknown;
  readonly attempt: number;
};
type Permission = { readonly status: string; readonly action: string };
type Reached = {
  readonly checkpoint: string;
  readonly outputs: Record<string, unknown>;
  readonly requestId: string;
};
type Proposed = { readonly tool: string; readonly args: object; readonly requestId: string };
type Outcome = {
  readonly status: "applied" | "not_applied";
  readonly result?: object;
  readonly reason?: string;
};

export type AgentServer = {
  create(plan: Plan): Promise<string>;
  look(id: string): Promise<Flow>;
  start(id: string): Promise<unknown>;
  propose(id: string, proposal: Proposed): Promise<Permission>;
  reach(id: string, reached: Reached): Promise<string>;
  complete(id: string, result: unknown): Promise<unknown>;
  compensations(id: string): Promise<readonly Undo[]>;
  undo(id: string, undoes: string): Promise<Permission>;
  report(action: string, outcome: Outcome): Promise<unknown>;
  /** Until the agent looks again. */
  rest(): Promise<void>;
};

export function declareTools({ tool }: Pick<Remote, "tool">): void {
  tool({ name: "book", policy: "approve", effect: "idempotent", undo: true });
  tool({ name: "mail", policy: "approve", effect: "idempotent" });
}

export function byMethods({ runtime }: Desk): AgentServer {
  const remote = remoteMethods({
    tools: runtime.tools as never,
    warned: new Set(),
    open: async () => runtime,
  });
  const { workflows, propose, report } = remote;
  declareTools(remote);
  return {
    create: (plan) =>
      workflows.create({
        ...{ name: "trip", checkpoints: checkpointsOf(plan), requestId: "r", by: FAR.agent },
        ...terms(plan),
      }),
    async look(id) {
      const { end, status, attempt, passed, lastDecision } = await workflows.get(id);
      const outputs = lastDecision?.outputs ?? null;
      return { isOver: end !== null, status, attempt, passed: passed.at(-1)?.name, outputs };
    },
    start: (id) => workflows.start(id, FAR),
    propose: (workflow, proposal) => propose({ ...proposal, workflow, ...FAR }),
    reach: async (id, reached) => (await workflows.checkpoint(id, { ...reached, ...FAR })).kind,
    complete: (id, result) => workflows.complete(id, { ...FAR, result }),
    compensations: (id) => workflows.compensations(id),
    undo: (id, undoes) => workflows.undo(id, { undoes, ...FAR }),
    report: (action, outcome) => report(action, { ...FAR, ...outcome }),
    rest: () => runtime.clock.sleep(100, undefined as never),
  };
}

/** `rest`: lets people decide. */
export function overHttp({ workflows, actions }: Client, plan: Plan, rest: () => Promise<void>): AgentServer {
  const names = checkpointsOf(plan).map(({ name }) => name);
  const permission = ({ status, action_id: action }: { status: string; action_id: string }) => ({
    status,
    action,
  });
  return {
    async create() {
      const { attempts, onIrreversible: on_irreversible } = terms(plan);
      const checkpoints = checkpointsOf(plan).map(({ name, timeoutSeconds: timeout_seconds }) => ({
        ...{ name, timeout_seconds },
      }));
      const identity = { name: "trip", request_id: "r", executor_id: FAR.agent };
      return (await workflows.create({ ...identity, checkpoints, attempts, on_irreversible })).workflow_id;
    },
    async look(id) {
      const { completed_at, status, attempt, current_checkpoint, last_decision } = await workflows.get(id);
      const [passed, outputs] = [names[current_checkpoint - 1], last_decision?.outputs ?? null];
      return { isOver: completed_at !== null, status, attempt, passed, outputs };
    },
    start: (id) => workflows.start(id, FAR),
    propose: async (id, { requestId: request_id, ...proposal }) =>
      permission(await workflows.propose(id, { ...proposal, request_id, ...FAR })),
    reach: async (id, { checkpoint: checkpoint_id, outputs, requestId: request_id }) =>
      (await workflows.reach(id, { checkpoint_id, outputs, request_id, ...FAR })).result,
    complete: (id, result) => workflows.complete(id, { ...FAR, result }),
    compensations: async (id) =>
      (await workflows.compensations(id)).compensations.map(({ action_id: action, ...undo }) => ({
        ...undo,
        action,
      })),
    undo: async (id, undoes) => permission(await workflows.compensate(id, undoes, FAR)),
    report: (action, outcome) => actions.report(action, { ...FAR, ...outcome }),
    rest,
  };
}

export class Agent {
  readonly #server: AgentServer;
  readonly #plan: Plan;
  readonly #outside: Outside;

  constructor(server: AgentServer, plan: Plan, outside: Outside) {
    this.#server = server;
    this.#plan = plan;
    this.#outside = outside;
  }

  create(): Promise<string> {
    return this.#server.create(this.#plan);
  }

  /** Until the workflow has ended. */
  async work(id: string): Promise<void> {
    for (;;) {
      try {
        const flow = await this.#server.look(id);
        if (flow.isOver) return;
        if (flow.status === "initialized") await this.#server.start(id);
        else if (flow.status === "rolling_back") await this.#goBack(id);
        else if (flow.status === "executing") await this.#goOn(id, flow);
      } catch (error) {
        // The workflow has moved in the meantime, or the answer was lost: the agent looks again.
        if (!isHoldpointError(error) && !isClientError(error)) throw error;
      }
      await this.#server.rest();
    }
  }

  async #perform({ status, action }: Permission, key: string, line: string): Promise<void> {
    if (status !== "permitted") return;
    happen(this.#outside, key, line);
    await this.#server.report(action, { status: "applied", result: { key } });
  }

  async #goOn(id: string, { attempt, passed, outputs: result }: Flow): Promise<void> {
    const { steps } = this.#plan;
    const from = steps.findIndex((step) => "checkpoint" in step && step.checkpoint === passed) + 1;
    for (const [index, step] of steps.entries()) {
      if (index < from) continue;
      const requestId = `${attempt}-${index}`;
      if ("call" in step) {
        const { call: tool, n } = step;
        const answer = await this.#server.propose(id, { tool, args: { n }, requestId });
        await this.#perform(answer, requestId, `${tool} ${n}`);
      } else {
        const { checkpoint } = step;
        const kind = await this.#server.reach(id, { checkpoint, outputs: { city: "Rome" }, requestId });
        if (kind !== "passed") return;
      }
    }
    await this.#server.complete(id, result);
  }

  async #goBack(id: string): Promise<void> {
    const { compensations, undo, report } = this.#server;
    for (const { undoes, action, args, attempt } of await compensations(id)) {
      const [key, line] = [`undo ${undoes} ${attempt}`, `undo book ${(args as { n: number }).n}`];
      if (action === null) await this.#perform(await undo(id, undoes), key, line);
      // The answer was lost. An undo is of the class `once`: the agent says whether it has performed it.
      else if (this.#outside.keys.has(key)) await report(action, { status: "applied" });
      else await report(action, { status: "not_applied", reason: "the permit was lost" });
    }
  }
}
