/**
 * The outside world: what receivers got, what they applied, and what can be known of it. The ground truth. Also what
 * simulated tools show of their calls.
 */

import type { ProbeResult } from "../../src/effects/define-tool.ts";
import { NotApplied } from "../../src/effects/run-tool.ts";
import type { PreviewContext, ToolContext } from "../../src/effects/tool.ts";

import { digestOf } from "../../src/kernel/canonical-json.ts";
import type { Json } from "../../src/kernel/json.ts";
import {
  CANARY,
  count,
  freezeMaybe,
  never,
  SECRET,
  type Send,
  type Sim,
  type SimProcess,
  type SimWorld,
  strikes,
} from "./sim.ts";
import { type Args, CURRENCY, type ToolSpec } from "./specs.ts";

export class Definite extends Error {}

export const createWorld = (): SimWorld => ({
  sends: new Map(),
  keyOf: new Map(),
  applied: new Map(),
  remembered: new Map(),
  inFlight: new Map(),
  spent: new Map(),
  levels: new Map(),
  previews: new Map(),
});

const listOf = (map: Map<string, Send[]>, key: string): Send[] => {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
};

/** What people who look closely would find; undefined while a packet is still under way. */
export function truthOf(world: SimWorld, action: string): "applied" | "not_applied" | undefined {
  const key = world.keyOf.get(action) ?? "";
  if ((world.inFlight.get(key) ?? 0) > 0) return undefined;
  return (world.applied.get(key)?.length ?? 0) > 0 ? "applied" : "not_applied";
}

function remember(sim: Sim, spec: ToolSpec, send: Send): void {
  const { world, scheduler } = sim;
  const name = `${spec.name}/${send.key}`;
  world.remembered.set(name, scheduler.now());
  if (spec.receiver !== "forgets") return;
  scheduler.after(spec.remembersMs, null, () => {
    world.remembered.delete(name);
    count(sim, "receiver forgot the key");
  });
}

function receive(sim: Sim, spec: ToolSpec, send: Send): void {
  const { world } = sim;
  const before = listOf(world.applied, send.key);
  const known = world.remembered.has(`${spec.name}/${send.key}`);
  if (known && (spec.receiver === "honours" || spec.receiver === "forgets")) {
    count(sim, "receiver honoured the key");
    return;
  }
  if (before.length > 0 && spec.receiver === "ignores") count(sim, "receiver ignored the key");
  const landed = { ...send, at: sim.scheduler.now() };
  before.push(landed);
  remember(sim, spec, send);
  sim.trace?.(`world applies ${send.key}#${send.attempt}`);
  if (spec.receiver === "doubles" && sim.random.chance(0.5)) {
    count(sim, "receiver applied twice");
    before.push(landed);
  }
  sim.oracle.applied(spec, send);
}

/** Handles instead of the values that a tool was given. */
function plainArgs(args: Json): Json {
  return JSON.parse(JSON.stringify(args), (_name, part) => (part === CANARY ? SECRET : part)) as Json;
}

function reply(sim: Sim, spec: ToolSpec, { args, context }: Called): Json {
  const { random, world } = sim;
  for (const { budget, perUnit } of spec.costs) {
    if (!random.chance(0.3)) continue;
    const micros = BigInt(
      Math.floor((args?.amount ?? 0) * perUnit * (random.chance(0.1) ? 1.2 : random.float())),
    );
    const name = `${context.action}#${context.attempt}`;
    const said = world.spent.get(name) ?? new Map<string, bigint>();
    world.spent.set(name, said.set(budget, micros));
    context.spent(budget, { currency: CURRENCY, micros });
  }
  if (args === null) return random.int(1_000);
  return {
    done: args.n ?? null,
    ...(args.token === undefined ? {} : { note: `used ${String(args.token)}` }),
  };
}

function refusal(sim: Sim, { refuses = 0 }: ToolSpec, args: Args | null): Error | undefined {
  if (refuses > 0 && sim.random.chance(refuses)) return new NotApplied("not any more");
  const said = args?.token === undefined ? "" : ` with ${String(args.token)}`;
  if (strikes(sim, "effect refused, definite"))
    return sim.random.chance(0.5) ? new NotApplied(`refused${said}`) : new Definite(`HTTP 400${said}`);
  if (strikes(sim, "effect refused, indefinite")) return new Error(`connection reset${said}`);
  return undefined;
}

type Packet = { readonly life: SimProcess; readonly spec: ToolSpec; readonly send: Send };

/** A packet flies, is received whatever becomes of its sender, and may be answered. */
function fly(sim: Sim, { life, spec, send }: Packet, answer: (how: PacketAnswer) => void): void {
  const { scheduler, random, world, scenario } = sim;
  const slow = strikes(sim, "effect slow");
  const flight = slow ? random.between(50, scenario.flightMs) : random.float() * 20;
  world.inFlight.set(send.key, (world.inFlight.get(send.key) ?? 0) + 1);
  scheduler.after(flight, null, () => {
    world.inFlight.set(send.key, (world.inFlight.get(send.key) ?? 0) - 1);
    receive(sim, spec, send);
    if (strikes(sim, "effect applied, response lost")) {
      if (spec.timeoutMs === null) scheduler.after(random.between(10, 2_000), life, () => answer("reset"));
      return;
    }
    const how = strikes(sim, "effect applied, error answered") ? "error" : "ok";
    scheduler.after(random.float() * 20, life, () => answer(how));
  });
}

type PacketAnswer = "ok" | "error" | "reset";
type ToolCallContext = Pick<ToolContext, "action" | "attempt" | "idempotencyKey" | "spent">;
/** A gated step of a workflow is not told its arguments. */
type Called = { readonly args: Args | null; readonly context: ToolCallContext };

export function runTool(
  sim: Sim,
  life: SimProcess,
  spec: ToolSpec,
  call: { readonly args: Json; readonly context: ToolCallContext },
): Promise<Json> {
  const { context } = call;
  const args = call.args as unknown as Args | null;
  const called = { args, context };
  if (!life.alive) return never();
  const send: Send = {
    key: context.idempotencyKey,
    action: context.action,
    attempt: context.attempt,
    argsDigest: args === null ? null : digestOf(plainArgs(call.args)),
    life: life.number,
    at: sim.scheduler.now(),
  };
  sim.trace?.(`node ${life.node} sends ${send.key}#${send.attempt} of ${spec.name}`);
  listOf(sim.world.sends, send.key).push(send);
  if (!sim.world.keyOf.has(send.action)) sim.world.keyOf.set(send.action, send.key);
  sim.oracle.sent(life, spec, send);
  freezeMaybe(sim, life, "node frozen while an effect is under way");
  return new Promise((resolve, reject) => {
    const refused = refusal(sim, spec, args);
    if (refused !== undefined || spec.effect === "read") {
      sim.scheduler.after(sim.random.float() * 20, life, () =>
        refused === undefined ? resolve(reply(sim, spec, called)) : reject(refused),
      );
      return;
    }
    fly(sim, { life, spec, send }, (how) => {
      if (how === "ok") resolve(reply(sim, spec, called));
      else reject(new Error(how === "error" ? "HTTP 500" : "connection reset"));
    });
  });
}

export async function probeTool(sim: Sim, spec: ToolSpec, key: string): Promise<ProbeResult> {
  await sim.scheduler.sleep(sim.random.float() * 20);
  if (sim.random.chance(0.1)) return { answer: "unknown" };
  const done = sim.world.applied.get(key) ?? [];
  const visible = done.some((send) => send.at + spec.probeLagMs <= sim.scheduler.now());
  if (done.length > 0 && !visible) count(sim, "probe wrong");
  return { answer: visible ? "applied" : "not_applied", evidence: { seen: done.length } };
}

/** What the tool shows: the level of its part of the world, now and then that it cannot tell. */
export async function previewOf(
  sim: Sim,
  life: SimProcess,
  { tool, action }: Pick<PreviewContext, "tool" | "action">,
): Promise<Json> {
  if (!life.alive) return never();
  await sim.scheduler.sleep(sim.random.float() * 10);
  const level = sim.world.levels.get(tool) ?? 0;
  const isBroken = sim.faultsOn && level % 3 === 2;
  const shown = isBroken ? { value: "it cannot tell", failed: true } : { value: { level }, failed: false };
  const { previews } = sim.world;
  const key = `${life.number}/${action}`;
  const look = { digest: digestOf(shown), at: sim.scheduler.now() };
  previews.set(key, [...(previews.get(key) ?? []), look]);
  if (!isBroken) return shown.value;
  count(sim, "preview failed");
  throw new Error("it cannot tell");
}
