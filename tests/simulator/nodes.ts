/** Composes a process as the package would, over simulated ports, and keeps it going: leases, maintenance, restarts. */

import type { InputSchema } from "../../src/effects/arguments.ts";
import { defineTool, type ToolDefinition } from "../../src/effects/define-tool.ts";
import type { PreviewContext, Tool, ToolContext } from "../../src/effects/tool.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { Cost } from "../../src/policy/rules/tool-rules.ts";
import type { Notice } from "../../src/runtime/notices.ts";
import { openRuntime, type RuntimeParts } from "../../src/runtime/open.ts";
import { createDispatcher } from "../../src/workflows/run/dispatch.ts";
import type { Definitions } from "../../src/workflows/start.ts";
import { defineAll } from "./definitions.ts";
import {
  CANARY,
  count,
  crashProcess,
  type DeployedTool,
  fail,
  freezeMaybe,
  isRedeployed,
  never,
  SIGNING_KEY,
  type Sim,
  type SimProcess,
  shutDownProcess,
  strikes,
  wallTime,
} from "./sim.ts";
import { openSimStore } from "./sim-store.ts";
import {
  type Args,
  CURRENCY,
  type GatedClass,
  MOST,
  type ToolSpec,
  type ToolVersion,
  verdictFor,
} from "./specs.ts";
import { Definite, previewOf, probeTool, runTool } from "./world.ts";

function schemaOf(version: number): InputSchema<Args> {
  return {
    "~standard": {
      version: 1,
      vendor: "simulator",
      validate(value) {
        const { amount } = value as Args;
        const fits = Number.isInteger(amount) && amount >= 0 && amount <= MOST + version;
        return fits ? { value: value as Args } : { issues: [{ message: "amount out of range" }] };
      },
    },
  };
}

function costsOf({ costs }: ToolSpec, amount: number): readonly Cost[] {
  return costs.map(({ budget, perUnit }) => ({
    budget,
    amount: { currency: CURRENCY, micros: BigInt(amount * perUnit) },
  }));
}

/** How the tool is undone, where workflows may want that. */
function undoOf(sim: Sim, tool: string, owner: () => SimProcess): Pick<ToolDefinition<Args, Json>, "undo"> {
  const undo = sim.scenario.flows.undos.get(tool);
  if (undo?.kind !== "tool") return undo?.kind === "nothing" ? { undo: "nothing" } : {};
  const { spec, policy } = undo;
  const run = (args: Args, result: Json, context: ToolContext) =>
    runTool(sim, owner(), spec, { args: { args: args as unknown as Json, result }, context });
  const timeout = spec.timeoutMs === null ? {} : { timeoutMs: spec.timeoutMs };
  const effect = spec.effect as GatedClass;
  return { undo: { run, effect, policy: verdictFor(policy, { amount: 0 }), ...timeout } };
}

function toolOf(sim: Sim, spec: ToolSpec, { policy, schema }: ToolVersion, owner: () => SimProcess): Tool {
  const { costs, dedupeWindowMs } = spec;
  return defineTool<Args, Json>({
    name: spec.name,
    effect: spec.effect,
    input: schemaOf(schema),
    version: `s${schema}`,
    policy: (call) => verdictFor(policy, call.args),
    policyVersion: JSON.stringify(policy),
    keyRetentionMs: spec.keyRetentionMs,
    finalityMs: spec.finalityMs,
    ...(spec.timeoutMs === null ? {} : { timeoutMs: spec.timeoutMs }),
    attempts: spec.attempts,
    ...(costs.length === 0 ? {} : { cost: ({ amount }: Args) => costsOf(spec, amount) }),
    ...(dedupeWindowMs === null ? {} : { dedupe: ({ to }: Args) => to, dedupeWindowMs }),
    isDefinite: (error) => error instanceof Definite,
    ...(spec.effect === "probed" ? { verify: (effect) => probeTool(sim, spec, effect.idempotencyKey) } : {}),
    ...(sim.scenario.beforehand.previewed.has(spec.name)
      ? { preview: (_args: Args, context: PreviewContext) => previewOf(sim, owner(), context) }
      : {}),
    ...undoOf(sim, spec.name, owner),
    run: (args, context) => runTool(sim, owner(), spec, { args: args as unknown as Json, context }),
  });
}

function clockOf(sim: Sim, owner: () => SimProcess, rate: number): Clock {
  return {
    elapsed: () => sim.scheduler.now() * rate,
    now: () => Math.floor(wallTime(sim) + sim.scheduler.now() * (rate - 1)) + owner().clockOffset,
    turn: () => new Promise((resolve) => sim.scheduler.after(0, owner(), resolve)),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) {
          resolve();
          return;
        }
        const takeBack = sim.scheduler.after(ms / rate, owner(), resolve);
        signal?.addEventListener("abort", () => {
          takeBack();
          resolve();
        });
      }),
  };
}

function tell(sim: Sim, life: SimProcess, notice: Notice): void {
  if (notice.kind === "maintenance_failed") handleTopError(sim, life, "in maintenance", notice.error);
  if (notice.kind === "definition_changed" && !isRedeployed(sim, notice.difference))
    fail(sim, "replay", `${notice.workflow} is told to have changed: ${notice.difference}`);
  if (notice.kind !== "waiting" || strikes(sim, "notice lost")) return;
  const told = { tenant: life.tenant, approval: notice.approval, decideBy: notice.decideBy };
  sim.told.push(told);
  if (strikes(sim, "notice duplicated")) sim.told.push(told);
}

type Deployed = { readonly tool: Tool; readonly deployed: DeployedTool };

function deploy(sim: Sim, owner: () => SimProcess): ReadonlyMap<string, Deployed> {
  const tools = new Map<string, Deployed>();
  for (const spec of sim.scenario.tools) {
    if (sim.faultsOn && sim.lives.length > 0 && sim.random.chance(0.04)) {
      count(sim, "tool absent");
      continue;
    }
    const version = sim.deployed.get(spec.name) as ToolVersion;
    const tool = toolOf(sim, spec, version, owner);
    tools.set(spec.name, { tool, deployed: { ...version, ...digestsOf(tool) } });
    const undo = sim.scenario.flows.undos.get(spec.name);
    if (undo?.kind !== "tool" || typeof tool.undo !== "object" || tool.undo === null) continue;
    const { policy } = undo;
    const deployed = { policy, schema: 1, ...digestsOf(tool.undo) };
    tools.set(undo.spec.name, { tool: tool.undo, deployed });
  }
  return tools;
}

const digestsOf = ({ rules: { policyDigest, schemaDigest } }: Tool) => ({ policyDigest, schemaDigest });

/** Gated steps of workflows, which no process has as tools: only the oracle wants to know of them. */
function stepsOf({ scenario }: Sim): readonly (readonly [string, DeployedTool])[] {
  return scenario.flows.steps.map(({ spec: { name, effect }, policy }) => {
    const said = policy.kind === "escalate" ? "escalate" : "approve";
    const tool = defineTool({ name, effect: effect as GatedClass, policy: said, run: () => null });
    return [name, { policy, schema: 1, ...digestsOf(tool) }] as const;
  });
}

/** Definitions of this process, and the desk that runs them. */
function createDefinitions(sim: Sim, owner: () => SimProcess, parts: RuntimeParts) {
  const runtime = openRuntime(parts);
  const known: Definitions["known"] = new Map();
  const dispatcher = createDispatcher(runtime, parts.idle, known);
  const definitions = { known, open: async () => ({ runtime, dispatcher }) };
  const workflows = defineAll({ sim, owner, definitions }, parts.tools);
  return { runtime, workflows, begin: () => (known.size === 0 ? runtime.epoch() : dispatcher.work()) };
}

/** Every life of a process starts here. */
export function startProcess(sim: Sim, node: number): SimProcess {
  const { tenant, agent, onBehalfOf } = sim.scenario.nodes[node] as Sim["scenario"]["nodes"][number];
  const { random } = sim;
  const drifts = random.chance(0.5);
  if (drifts) count(sim, "node clock drift");
  const owner = (): SimProcess => life;
  const clock = clockOf(sim, owner, drifts ? 0.999 + random.float() * 0.002 : 1);
  const { store, drop } = openSimStore(sim, owner);
  const tools = deploy(sim, owner);
  const { runtime, workflows, begin } = createDefinitions(sim, owner, {
    store,
    tenant,
    agent,
    requester: onBehalfOf === null ? [agent] : [agent, onBehalfOf],
    clock,
    idle: clock,
    random: random.bytes,
    tools: new Map([...tools].map(([name, { tool }]) => [name, tool])),
    environment: () => CANARY,
    keyring: () => ({ signing: SIGNING_KEY, secrets: new Uint8Array(32) }),
    notify: (notice) => tell(sim, owner(), notice),
    reach: (point) => reach(sim, owner(), point),
    process: `node ${node}`,
    rhythm: {
      recoverMs: random.between(500, 5_000),
      probeMs: random.between(500, 5_000),
      sweepMs: random.between(500, 5_000),
      sealMs: random.between(4_000, 20_000),
    },
    seals: true,
  });
  const life: SimProcess = {
    number: sim.lives.length,
    node,
    tenant,
    runtime,
    tools: new Map([...[...tools].map(([name, { deployed }]) => [name, deployed] as const), ...stepsOf(sim)]),
    workflows,
    crashed: new Set(),
    dropStore: drop,
    clockOffset: 0,
    alive: true,
    frozenUntil: 0,
  };
  sim.lives.push(life);
  sim.trace?.(
    `node ${node} (life ${life.number}) starts for ${tenant} as ${runtime.requester.join(" for ")}`,
  );
  life.crashed.add(() => restartLater(sim, node));
  sim.scheduler.after(random.between(0, 1_000), life, () => void begin()?.catch(() => undefined));
  return life;
}

function crashAt(sim: Sim, life: SimProcess, point: string): Promise<void> {
  if (/_(take|checkpoint|compensation|fact|rest)$/.test(point)) count(sim, "crash at a point of a workflow");
  crashProcess(sim, life, point);
  return never();
}

function reach(sim: Sim, life: SimProcess, point: string): void | Promise<void> {
  if (!life.alive) return never();
  if (point === "before_recover") {
    const other = [...sim.recovering].some((one) => one !== life && one.alive && one.tenant === life.tenant);
    if (other) count(sim, "two nodes recover at once");
    sim.recovering.add(life);
  } else if (point === "after_recover") sim.recovering.delete(life);
  if (strikes(sim, "crash at a named point")) return crashAt(sim, life, point);
  if (point === "before_send" && sim.random.chance(0.5))
    freezeMaybe(sim, life, "node frozen while an effect is under way");
  const begun = point === "after_propose" || point === "after_start";
  if (begun && strikes(sim, "node closed while a call is under way")) void shutDownProcess(sim, life);
  // Long enough now and then for another node to find the same dead epoch.
  if (point === "before_recover") return life.runtime.clock.sleep(sim.random.float() * 120);
  if (point === "before_send" || sim.random.chance(0.2))
    return life.runtime.clock.sleep(sim.random.float() * 5);
}

function restartLater(sim: Sim, node: number): void {
  const ms = sim.faultsOn ? sim.random.between(10, 6_000) : 1;
  sim.scheduler.after(ms, null, () => {
    count(sim, "node restarted");
    startProcess(sim, node);
  });
}

/** Failures that the outside brings about; anything else is a fault of our own. */
function isExpected(error: unknown): boolean {
  return (
    isHoldpointError(error) && (error.retryable || error.code === "epoch_ended" || error.code === "closed")
  );
}

/** What a process does about an error that reaches its top. */
export function handleTopError(sim: Sim, life: SimProcess, where: string, error: unknown): void {
  if (!life.alive) return;
  if (isHoldpointError(error, "epoch_ended")) crashProcess(sim, life, "because its epoch ended");
  else if (!isExpected(error)) fail(sim, "unexpected error", `${where}: ${String((error as Error).stack)}`);
}
