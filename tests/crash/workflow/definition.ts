/**
 * The workflow of the run: twelve operations with three checkpoints, the last of them rejected once. Every effect and every
 * compensation is the receiver's.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Answer, EffectClass, GatedTool, Holdpoint } from "../../../src/index.ts";
import type { Mode } from "../effects.ts";
import type { Receiver } from "../receiver.ts";
import type { Whereabouts } from "./whereabouts.ts";

export const NAME = "release";
export const REASON = "not at this hour";
export const CHECKPOINTS = ["Plan", "Build", "Release"] as const;

/** Only for the control: what a run has to find. */
export type Plant = "unkeyed";

/** Every tenth of some is answered late; none is refused. */
export const numberFor = (n: number): number => 143 * n + (n % 20 === 7 ? 10 : n % 10);

type Args = { readonly n: number; readonly what: string };
export type Input = { readonly n: number };
export type Result = {
  readonly n: number;
  readonly attempt: number;
  readonly crew: number;
  readonly sentBack: string | null;
  readonly undone: number;
  readonly restored: unknown;
};

type Sent = { readonly idempotencyKey: string; readonly signal: AbortSignal };
type World = {
  readonly hp: Holdpoint;
  readonly receiver: Receiver;
  readonly where: Whereabouts;
  readonly plant: Plant | null;
};

/** Who promises what: a tool of class once has a receiver that applies whatever it gets. */
export const modeOf = (tool: string): Mode => (tool.startsWith("card.") ? "ignores" : "honours");

async function send(world: World, tool: string, args: unknown, { idempotencyKey, signal }: Sent) {
  const mode = world.plant === "unkeyed" && tool.startsWith("crew.") ? "ignores" : modeOf(tool);
  const written = AsyncLocalStorage.bind(() => world.where.reach("request_written"));
  const body = { key: idempotencyKey, tool, args: args as Args };
  const { status, result } = await world.receiver.post(mode, body, { signal, written });
  if (status !== 200 || result === null) throw new Error(`HTTP ${status}`);
  return result;
}

function tool(world: World, name: string, effect: Extract<EffectClass, "keyed" | "idempotent" | "once">) {
  return world.hp.gate<Args, string>({
    name,
    effect,
    policy: name === "site.publish" ? "escalate" : "approve",
    run: (args, context) => send(world, name, args, context),
    undo: (args, result, context) => send(world, `${name}.undo`, { args, result }, context),
  });
}

/** A doubt that a person has ended has no result. */
function done<Value>(answer: Answer<Value>): Value | null {
  if (answer.status === "done") return answer.result;
  throw new Error(`not executed: ${"code" in answer ? answer.code : "in doubt"}`);
}

/** Until it happened: what was in doubt and had not happened is asked for again. */
async function untilPaid(call: () => Promise<Answer<string>>): Promise<void> {
  for (;;) {
    const answer = await call();
    if (answer.status === "done") return;
    if (!("code" in answer) || answer.code !== "not_applied") done(answer);
  }
}

type Tools = Readonly<
  Record<"reserve" | "hire" | "put" | "deploy" | "pay" | "publish", GatedTool<Args, string>>
>;

function toolsOf(world: World): Tools {
  return {
    reserve: tool(world, "hall.reserve", "keyed"),
    hire: tool(world, "crew.hire", "keyed"),
    put: tool(world, "files.put", "idempotent"),
    deploy: tool(world, "site.deploy", "keyed"),
    pay: tool(world, "card.pay", "once"),
    publish: tool(world, "site.publish", "keyed"),
  };
}

export function defineRelease(world: World) {
  const { hp, where } = world;
  const tools = toolsOf(world);
  const checkpoints = CHECKPOINTS.map((name) => ({ name }));
  return hp.workflow<Input, Result>(NAME, { checkpoints }, async (ctx, { n }) => {
    const at = (what: string) => where.at(n, ctx.attempt, what);
    const args = (what: string) => ({ n: numberFor(n), what });
    at("reserve");
    done(await ctx.call(tools.reserve, args("hall")));
    at("plan");
    const plan = await ctx.step("plan", () => ({ crew: 2 }));
    at("Plan");
    await ctx.checkpoint("Plan", { outputs: plan, summary: "A hall and two people" });
    at("hire");
    done(await ctx.call(tools.hire, args("crew")));
    at("put");
    done(await ctx.call(tools.put, args("files")));
    at("Build");
    const built = await ctx.checkpoint("Build", { outputs: plan, summary: "Built" });
    at("pair");
    const step = args("record");
    await ctx.parallel([
      async (branch) => done(await branch.call(tools.deploy, args("site"))),
      (branch) =>
        branch.step(
          "record",
          {
            effect: "idempotent",
            args: step,
            undo: (result: string, context) =>
              send(world, `${NAME}.record.undo`, { args: step, result }, context),
          },
          (context) => send(world, `${NAME}.record`, step, context),
        ),
    ]);
    at("pay");
    await untilPaid(() => ctx.call(tools.pay, args("card")));
    at("nap");
    ctx.now();
    await ctx.sleep(1);
    at("Release");
    await ctx.checkpoint("Release", { outputs: { attempt: ctx.attempt }, summary: "Ready" });
    at("publish");
    done(await ctx.call(tools.publish, args("site")));
    at("end");
    const { attempt, sentBack } = ctx;
    return {
      n,
      attempt,
      crew: built.outputs.crew,
      sentBack: sentBack?.reason ?? null,
      undone: sentBack?.undone.length ?? 0,
      restored: sentBack?.restored?.["outputs"] ?? null,
    };
  });
}
