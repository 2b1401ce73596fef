/**
 * Definitions as a program would write them, made from data. What a definition hears runs into everything it asks for
 * next, so that two runs which hear different things cannot go on alike.
 */

import type { Answer } from "../../src/effects/answer.ts";
import type { GatedTool } from "../../src/effects/gate.ts";
import { digestOf } from "../../src/kernel/canonical-json.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import type { StepContext, WorkflowContext } from "../../src/workflows/definition.ts";
import { type Definitions, declareWorkflow } from "../../src/workflows/start.ts";
import { count, type Sim, type SimProcess, type SimWorkflow } from "./sim.ts";
import { type Args, MOST, type OpSpec, type WorkflowSpec } from "./specs.ts";
import { specOf, stepTool, toolsOf } from "./workflow-scenario.ts";
import { runTool } from "./world.ts";

/** One run of a definition, from its first line on. */
type DefinitionRun = {
  readonly sim: Sim;
  readonly life: SimProcess;
  readonly spec: WorkflowSpec;
  readonly children: ReadonlyMap<string, SimWorkflow>;
  /** How many answers it has heard. */
  heard: number;
};

/** One line of a definition: with a context of its own, and all that it has heard so far boiled down to a number. */
type DefinitionBranch = {
  readonly telling: DefinitionRun;
  readonly context: WorkflowContext;
  readonly path: string;
  readonly counts: Map<string, number>;
  carry: number;
};

const BIG = 1_000_003;

function mix(line: DefinitionBranch, said: Json): void {
  const number = Number.parseInt(digestOf(said).slice(0, 8), 16);
  line.carry = (line.carry * 31 + number) % BIG;
}

function keyOf({ path, counts }: DefinitionBranch, name: string): string {
  const times = (counts.get(name) ?? 0) + 1;
  counts.set(name, times);
  return `${path}/${name}#${times}`;
}

/** The order of answers is part of what a definition can see: the oracle compares it with the journal's. */
function hear(line: DefinitionBranch, key: string, what: string): void {
  const { telling, context } = line;
  const { sim, life } = telling;
  const { workflow: id, attempt } = context;
  sim.oracle.heard({ tenant: life.tenant, workflow: id, attempt, index: telling.heard++, key, what });
  mix(line, what);
}

function argsOf({ carry }: DefinitionBranch): Args {
  return { amount: carry % (MOST + 1), to: `account ${carry % 6}`, n: carry };
}

const nameOf = (tool: string): GatedTool<Args, Json> =>
  ({ toolName: tool }) as unknown as GatedTool<Args, Json>;

/** The status in the words of the journal. */
function journaled({ status }: Answer<Json>): boolean | "in_doubt" {
  return status === "in_doubt" ? status : status === "done";
}

async function call(line: DefinitionBranch, op: Extract<OpSpec, { kind: "call" }>): Promise<void> {
  const key = keyOf(line, op.tool);
  const options = {
    ...(op.goesOn ? { continueInDoubt: true } : {}),
    ...(op.rollback === null ? {} : { rollbackEnabled: op.rollback }),
  };
  const answer: Answer<Json> = await line.context.call(nameOf(op.tool), argsOf(line), options);
  hear(line, key, `${answer.action} ${journaled(answer)}`);
  mix(line, answer.status === "done" ? answer.result : answer.reason);
  if (op.must && "code" in answer) throw new Error(`${op.tool} was not done`);
}

async function step(line: DefinitionBranch, op: Extract<OpSpec, { kind: "step" }>): Promise<void> {
  const { sim, life } = line.telling;
  const key = keyOf(line, op.name);
  const retries = { attempts: op.attempts, backOffMs: op.backOffMs };
  const work = async ({ attempt }: StepContext): Promise<number> => {
    await life.runtime.clock.sleep(sim.random.float() * 30);
    if (attempt <= op.fails) throw new Error("not yet");
    return sim.random.int(BIG);
  };
  try {
    const result = await line.context.step(op.name, { retries }, work);
    hear(line, key, digestOf(result));
  } catch (error) {
    hear(line, key, "failed");
    throw error;
  }
}

/** A gated step's function is told its key and no more. */
function runInner(
  { telling }: DefinitionBranch,
  tool: string,
  { attempt, signal, idempotencyKey }: StepContext,
) {
  const { sim, life } = telling;
  const spec = specOf(sim.scenario, tool);
  if (spec === undefined) throw new TypeError(`there is no ${tool}`);
  const action = idempotencyKey.replace(/^eff_/, "act_");
  const context = { action, attempt, signal, idempotencyKey, spent: () => undefined };
  return runTool(sim, life, spec, { args: null, context });
}

async function gated(line: DefinitionBranch, op: Extract<OpSpec, { kind: "gated" }>): Promise<void> {
  const key = keyOf(line, op.name);
  const tool = stepTool(line.telling.spec.name, op.name);
  const undo = (_result: Json, context: StepContext) => runInner(line, `${tool}.undo`, context);
  const options = {
    effect: op.effect,
    args: argsOf(line),
    retries: { attempts: 3 },
    ...(op.asks ? { approvalRequired: true } : {}),
    ...(op.undo ? { undo } : {}),
  };
  try {
    const result = await line.context.step(op.name, options, (context) => runInner(line, tool, context));
    hear(line, key, "true");
    mix(line, result);
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    hear(line, key, "false");
  }
}

async function checkpoint(line: DefinitionBranch, name: string): Promise<void> {
  const key = keyOf(line, name);
  const outputs: JsonObject = { amount: line.carry % MOST, carry: line.carry };
  const passed = await line.context.checkpoint(name, { outputs, summary: "look at this" });
  hear(line, key, digestOf(passed.outputs));
  if (passed.decision === "modified") count(line.telling.sim, "checkpoint modified");
}

async function question(line: DefinitionBranch, op: Extract<OpSpec, { kind: "question" }>): Promise<void> {
  const key = keyOf(line, op.name);
  const options = {
    suggestion: { amount: line.carry % MOST },
    ...(op.withinMs === null ? {} : { withinMs: op.withinMs }),
  };
  const said = await line.context.ask(op.name, "how much?", options);
  hear(line, key, said.answered ? digestOf(said.answer) : said.why);
}

async function child(line: DefinitionBranch, name: string): Promise<void> {
  const spawned = line.telling.children.get(name);
  if (spawned === undefined) throw new TypeError(`there is no ${name}`);
  const key = keyOf(line, name);
  try {
    hear(line, key, digestOf(await line.context.spawn(spawned, { n: line.carry })));
  } catch (error) {
    hear(line, key, "failed");
    if (line.carry % 2 === 0) throw error;
  }
}

function value({ context, carry }: DefinitionBranch, what: "now" | "random" | "log"): number {
  if (what === "log") context.log("on the way", { carry });
  return what === "now" ? context.now() : context.random();
}

async function parallel(line: DefinitionBranch, branches: readonly (readonly OpSpec[])[]): Promise<void> {
  const name = keyOf(line, "parallel").slice(line.path.length + 1);
  const path = line.path === "" ? name : `${line.path}.${name}`;
  const order: number[] = [];
  await line.context.parallel(
    branches.map((ops, index) => async (context: WorkflowContext) => {
      const inner = `${path}.${index + 1}`.replaceAll("#", "-");
      const branch = { ...line, context, path: inner, counts: new Map(), carry: line.carry + index };
      await runOps(branch, ops);
      order.push(index, branch.carry);
    }),
  );
  mix(line, order);
}

function failMaybe({ context }: DefinitionBranch, always: boolean): void {
  if (always || context.attempt === 1) throw new Error("the definition gives up");
}

async function runOp(line: DefinitionBranch, op: OpSpec): Promise<void> {
  switch (op.kind) {
    case "call":
      return call(line, op);
    case "step":
      return step(line, op);
    case "gated":
      return gated(line, op);
    case "checkpoint":
      return checkpoint(line, op.name);
    case "question":
      return question(line, op);
    case "child":
      return child(line, op.workflow);
    case "parallel":
      return parallel(line, op.branches);
    case "value":
      return mix(line, value(line, op.what));
    case "failure":
      return failMaybe(line, op.always);
    case "sleep": {
      const key = keyOf(line, "sleep");
      await line.context.sleep(op.ms);
      hear(line, key, "slept");
    }
  }
}

async function runOps(line: DefinitionBranch, ops: readonly OpSpec[]): Promise<void> {
  for (const op of ops) await runOp(line, op);
}

function define(
  { sim, owner, definitions }: Defining,
  spec: WorkflowSpec,
  children: ReadonlyMap<string, SimWorkflow>,
): SimWorkflow {
  const checkpoints = spec.checkpoints.map(({ name, asks, canRollback, timeoutSeconds, approvers }) => ({
    name,
    requiresApproval: asks,
    canRollback,
    timeoutSeconds,
    approvers,
  }));
  const { attempts, rollbackEnabled, onIrreversible } = spec;
  const options = { checkpoints, attempts, rollbackEnabled, onIrreversible };
  return declareWorkflow(definitions, spec.name, options, async (context, input: { readonly n: number }) => {
    const telling = { sim, life: owner(), spec, children, heard: 0 };
    const line = { telling, context, path: "", counts: new Map(), carry: input.n };
    await runOps(line, spec.ops);
    return line.carry;
  });
}

type Defining = {
  readonly sim: Sim;
  readonly owner: () => SimProcess;
  readonly definitions: Definitions;
};

/** What this process can run: a program that does not have the tools does not have the definition either. */
export function defineAll(
  defining: Defining,
  tools: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, SimWorkflow> {
  const { sim } = defining;
  const known = new Map<string, SimWorkflow>();
  for (const spec of sim.scenario.flows.workflows) {
    const needed = [...toolsOf(spec.ops), ...childrenOf(spec.ops)];
    const isWhole = needed.every((name) => tools.has(name) || known.has(name));
    const isLeftOut = sim.faultsOn && sim.lives.length > 0 && sim.random.chance(0.05);
    if (isWhole && !isLeftOut) known.set(spec.name, define(defining, spec, known));
    else count(sim, "definition absent");
  }
  return known;
}

function childrenOf(ops: readonly OpSpec[]): readonly string[] {
  return ops.flatMap((op) => {
    if (op.kind === "parallel") return op.branches.flatMap(childrenOf);
    return op.kind === "child" ? [op.workflow] : [];
  });
}
