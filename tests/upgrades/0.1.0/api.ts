/**
 * The part of 0.1.0 that its fixtures use, by the names that it had then. The archived program has no types in this tree, and
 * those of the present one may say something else.
 */
export type Money = { readonly currency: string; readonly micros: bigint };
export type By = { readonly by: string; readonly reason?: string };

export type Answer = {
  readonly executed: boolean | "in_doubt";
  readonly action: string;
  readonly approval?: string;
  readonly effect?: string;
};
type Args = Record<string, unknown>;
export type Tool = (args: Args, options: { requestId: string; waitMs?: number }) => Promise<Answer>;

export type ToolOptions = {
  readonly name: string;
  readonly policy?: unknown;
  readonly effect?: string;
  readonly cost?: (args: Args) => { readonly budget: string; readonly amount: Money };
  readonly run: (args: Args, context: { readonly idempotencyKey: string }) => unknown;
  readonly undo?: (args: Args) => unknown;
};

export type Context = {
  step(name: string, work: () => unknown): Promise<unknown>;
  call(tool: Tool, args: Args): Promise<Answer>;
  checkpoint(name: string, captured?: object): Promise<unknown>;
  ask(name: string, question: string): Promise<unknown>;
  sleep(ms: number): Promise<void>;
  spawn(workflow: Workflow, input: object): Promise<unknown>;
  log(text: string, fields: object): void;
  version(change: string): number;
};
export type Workflow = {
  start(input: object, options?: { requestId: string }): Promise<{ readonly id: string }>;
};

type OutsideAnswer = { readonly kind: string; readonly action: string; readonly approval?: string };
type OutsideWorkflows = {
  create(creation: object): Promise<string>;
  start(id: string, said: { agent: string }): Promise<unknown>;
  checkpoint(id: string, stand: object): Promise<{ readonly approval: string | null }>;
};

export type Holdpoint = {
  gate(tool: ToolOptions): Tool;
  declare(tool: object): void;
  workflow(name: string, body: (ctx: Context, input: never) => Promise<unknown>): Workflow;
  workflow(name: string, options: object, body: (ctx: Context, input: never) => Promise<unknown>): Workflow;
  stop(said: By & { agent: string }): Promise<unknown>;
  monitor(options: object): Promise<{ caughtUp(): Promise<void> }>;
  deliver(signal: AbortSignal, options: { allowPrivate: boolean }): Promise<void>;
  close(): Promise<void>;
  readonly outside: {
    propose(proposal: object): Promise<OutsideAnswer>;
    report(report: object): Promise<unknown>;
    readonly workflows: OutsideWorkflows;
  };
  readonly approvals: {
    list(): Promise<{ readonly items: readonly { readonly id: string; readonly tool: string }[] }>;
    approve(id: string, decision: By & { edit?: object }): Promise<unknown>;
    reject(id: string, decision: By): Promise<unknown>;
  };
  readonly workflows: {
    get(id: string): Promise<{
      readonly runner: string | null;
      readonly status: string;
      readonly waits: readonly { readonly kind: string; readonly on: string }[];
    }>;
  };
  readonly budgets: { limit(name: string, limit: Money): Promise<unknown> };
  readonly grants: { give(offer: object): Promise<{ readonly id: string }> };
  readonly intents: {
    send(intent: object): Promise<{ readonly id: string; readonly approval: string | null }>;
    acknowledge(id: string, by: { by: string }): Promise<unknown>;
  };
  readonly people: {
    add(person: object): Promise<unknown>;
    loginLink(person: string, offer: { by: string }): Promise<{ readonly text: string }>;
  };
  readonly keys: { issue(offer: object): Promise<{ readonly id: string; readonly text: string }> };
  readonly endpoints: { add(offer: object): Promise<{ readonly id: string }> };
  readonly messages: { list(page: object): Promise<{ readonly items: readonly { readonly id: string }[] }> };
  readonly alerts: { list(): Promise<{ readonly items: readonly { readonly id: string }[] }> };
};

/** `src/index.ts`. */
export type Program = { holdpoint(options: object): Holdpoint };

type Injected = { readonly statusCode: number; readonly payload: string; readonly headers: object };
export type Server = {
  readonly app: { inject(request: object): Promise<Injected> };
  close(): Promise<void>;
};
/** `src/serve.ts` and `src/server/settings.ts`. */
export type ServerProgram = { startServer(options: object): Promise<Server> };
export type SettingsProgram = { readSettings(from: object): object };
/** `src/open.ts`. */
export type StoreProgram = { openStore(options: object): Promise<object> };
