/** Workflows of a seed: what their definitions do, in which order, and how what they did is taken back. */
import type { Random } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import {
  type Ask,
  type CheckpointSpec,
  drawAsk,
  type GatedClass,
  type OpSpec,
  type PolicySpec,
  type ToolSpec,
  type UndoSpec,
  type WorkflowSpec,
  type WorkflowSpecs,
} from "./specs.ts";

type Drawing = {
  readonly random: Random;
  readonly scenario: Scenario;
  readonly children: readonly string[];
  /** Names things apart within one definition. */
  count: number;
  readonly checkpoints: CheckpointSpec[];
};

function drawCheckpoint(drawing: Drawing): OpSpec {
  const { random, scenario } = drawing;
  const name = `checkpoint ${++drawing.count}`;
  const ask = drawAsk(random, scenario.people);
  drawing.checkpoints.push({
    name,
    asks: random.chance(0.8),
    canRollback: random.chance(0.85),
    timeoutSeconds: random.chance(0.5) ? random.between(1, 15) : null,
    approvers: { quorum: random.chance(0.8) ? 1 : ask.quorum, from: ask.from, veto: ask.veto },
  });
  return { kind: "checkpoint", name };
}

function drawCall({ random, scenario }: Drawing): OpSpec {
  return {
    kind: "call",
    tool: random.pick(scenario.tools).name,
    goesOn: random.chance(0.15),
    rollback: random.chance(0.3) ? random.chance(0.7) : null,
    must: random.chance(0.2),
  };
}

function drawStep(drawing: Drawing): OpSpec {
  const { random } = drawing;
  const attempts = random.between(1, 4);
  const fails = random.chance(0.4) ? random.between(1, 4) : 0;
  const backOffMs = random.pick([50, 400, 2_500]);
  return { kind: "step", name: `step ${++drawing.count}`, attempts, fails, backOffMs };
}

function drawGated(drawing: Drawing): OpSpec {
  const { random } = drawing;
  return {
    kind: "gated",
    name: `gated ${++drawing.count}`,
    effect: random.pick(["once", "keyed", "idempotent"]),
    asks: random.chance(0.25),
    undo: random.chance(0.8),
  };
}

function drawOp(drawing: Drawing): OpSpec {
  const { random, children } = drawing;
  const roll = random.float();
  if (roll < 0.4) return drawCall(drawing);
  if (roll < 0.52) return drawStep(drawing);
  if (roll < 0.64) return drawGated(drawing);
  if (roll < 0.71) return { kind: "value", what: random.pick(["now", "random", "random", "log"]) };
  if (roll < 0.78) return { kind: "sleep", ms: random.pick([0, 30, 900, 4_000]) };
  if (roll < 0.84)
    return {
      kind: "question",
      name: `question ${++drawing.count}`,
      withinMs: random.chance(0.7) ? random.between(500, 10_000) : null,
    };
  if (roll < 0.92 && children.length > 0) return { kind: "child", workflow: random.pick(children) };
  return drawCheckpoint(drawing);
}

const drawOps = (drawing: Drawing, count: number): OpSpec[] =>
  Array.from({ length: count }, () => drawOp(drawing));

function drawParallel(drawing: Drawing): OpSpec {
  const { random } = drawing;
  const branches = Array.from({ length: random.between(2, 3) }, () => drawOps(drawing, random.between(1, 3)));
  return { kind: "parallel", branches };
}

/** Stretches of work with a checkpoint after each, something side by side, and now and then a failure at the end. */
function drawBody(drawing: Drawing, stretches: number): readonly OpSpec[] {
  const { random } = drawing;
  const ops: OpSpec[] = [];
  for (let stretch = 0; stretch < stretches; stretch++) {
    ops.push({ kind: "value", what: "random" }, ...drawOps(drawing, random.between(2, 4)));
    if (random.chance(0.3)) ops.push(drawParallel(drawing));
    ops.push(drawCheckpoint(drawing));
  }
  ops.push(...drawOps(drawing, random.int(3)));
  if (random.chance(0.3)) ops.push({ kind: "failure", always: random.chance(0.5) });
  return ops;
}

function drawWorkflow(
  random: Random,
  scenario: Scenario,
  name: string,
  children: readonly string[],
): WorkflowSpec {
  const drawing: Drawing = { random, scenario, children, count: 0, checkpoints: [] };
  const isChild = name.startsWith("child");
  const ops = isChild ? drawOps(drawing, random.between(1, 4)) : drawBody(drawing, random.between(1, 2));
  return {
    name,
    ops,
    checkpoints: drawing.checkpoints,
    attempts: random.between(1, 4),
    rollbackEnabled: random.chance(0.5),
    onIrreversible: random.chance(0.7) ? "continue" : "fail",
  };
}

const HOURS_24 = 24 * 3_600_000;

/** A tool that the workflow's own code stands for. */
function innerTool(name: string, effect: GatedClass, flightMs: number): ToolSpec {
  return {
    name,
    effect,
    receiver: effect === "keyed" ? "honours" : "plain",
    remembersMs: HOURS_24 + flightMs,
    probeLagMs: 0,
    keyRetentionMs: HOURS_24,
    finalityMs: 0,
    timeoutMs: null,
    attempts: 3,
    costs: [],
    dedupeWindowMs: null,
  };
}

function drawUndo(random: Random, scenario: Scenario, tool: ToolSpec): UndoSpec {
  if (tool.effect === "read") return { kind: "nothing" };
  const roll = random.float();
  if (roll < 0.15) return { kind: "none" };
  if (roll < 0.18) return { kind: "nothing" };
  const effect = random.pick(["once", "once", "keyed", "idempotent"] as const);
  const { keyRetentionMs, remembersMs } = tool;
  const spec = {
    ...innerTool(`${tool.name}.undo`, effect, scenario.flightMs),
    keyRetentionMs,
    remembersMs,
    timeoutMs: random.chance(0.5) ? random.between(100, 3_000) : null,
    refuses: random.pick([0, 0, 0.3, 1]),
  };
  const isGated = random.chance(0.35);
  const ask = { ...drawAsk(random, scenario.people), quorum: 1, executeWithinMs: null };
  return { kind: "tool", spec, policy: isGated ? { kind: "escalate", ask } : { kind: "approve" } };
}

const ANYONE: Ask = { quorum: 1, from: null, veto: true, decideWithinMs: null, executeWithinMs: null };

export const stepTool = (workflow: string, step: string): string =>
  `${workflow}.${step}`.replaceAll(/[^A-Za-z0-9_.:-]/g, "_");

function stepsIn(ops: readonly OpSpec[], workflow: string, flightMs: number): WorkflowSpecs["steps"] {
  return ops.flatMap((op) => {
    if (op.kind === "parallel") return op.branches.flatMap((branch) => stepsIn(branch, workflow, flightMs));
    if (op.kind !== "gated") return [];
    const name = stepTool(workflow, op.name);
    const policy: PolicySpec = op.asks ? { kind: "escalate", ask: ANYONE } : { kind: "approve" };
    const own = { spec: innerTool(name, op.effect, flightMs), policy };
    const undo = {
      spec: innerTool(`${name}.undo`, op.effect, flightMs),
      policy: { kind: "approve" } as const,
    };
    return op.undo ? [own, undo] : [own];
  });
}

/** Tools that a definition calls: a process without them does not have the definition. */
export function toolsOf(ops: readonly OpSpec[]): readonly string[] {
  return ops.flatMap((op) => {
    if (op.kind === "parallel") return op.branches.flatMap(toolsOf);
    return op.kind === "call" ? [op.tool] : [];
  });
}

/** From seed 1 on. */
export const FLOWS_EVERY = 3;
export const hasFlows = (seed: bigint): boolean => seed % BigInt(FLOWS_EVERY) === 1n;

/** A seed with workflows has fewer nodes and calls, and policies that let more through. */
export function withWorkflows(scenario: Scenario, random: Random): Scenario {
  const children = Array.from({ length: random.int(3) }, (_, index) => `child-${index}`);
  const parents = Array.from({ length: random.between(1, 3) }, (_, index) => `flow-${index}`);
  const workflows = [
    ...children.map((name) => drawWorkflow(random, scenario, name, [])),
    ...parents.map((name) => drawWorkflow(random, scenario, name, children)),
  ];
  const undos = new Map(scenario.tools.map((tool) => [tool.name, drawUndo(random, scenario, tool)]));
  const steps = workflows.flatMap(({ name, ops }) => stepsIn(ops, name, scenario.flightMs));
  const free = [...scenario.firstVersions].map(
    ([name, version]) =>
      [name, random.chance(0.6) ? { ...version, policy: { kind: "approve" } as const } : version] as const,
  );
  // Plain seeds have the more honest receivers.
  const tools = scenario.tools.map((tool) =>
    tool.effect === "keyed" && random.chance(0.5) ? { ...tool, receiver: "ignores" as const } : tool,
  );
  return {
    ...scenario,
    tools,
    nodes: scenario.nodes.slice(0, Math.max(scenario.tenants.length, random.between(1, 3))),
    requests: random.between(1, 6),
    firstVersions: new Map(free),
    flows: { workflows, undos, steps, starts: random.between(3, 5) },
  };
}

/** Everything that can be sent: tools, what undoes them, and gated steps. */
export function specOf(scenario: Scenario, name: string): ToolSpec | undefined {
  const { undos, steps } = scenario.flows;
  const known = scenario.tools.find((tool) => tool.name === name);
  if (known !== undefined) return known;
  const undo = undos.get(name.replace(/\.undo$/, ""));
  return undo?.kind === "tool" ? undo.spec : steps.find(({ spec }) => spec.name === name)?.spec;
}
