/** One executing process: calls gated tools without end and says on standard output what it was answered. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { holdpoint, type ToolContext } from "../../src/index.ts";

const [folder = "", effectsLog = "", name = ""] = process.argv.slice(2);
const hp = holdpoint({ folder, agent: name, notify: () => undefined });

/** The outside world: one line for every time that something really happened. */
const apply = (context: ToolContext) =>
  appendFileSync(
    effectsLog,
    `${JSON.stringify({ effect: context.effect, tool: context.tool, attempt: context.attempt })}\n`,
  );

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const slowly = async (_args: object, context: ToolContext) => {
  await sleep(20);
  apply(context);
  await sleep(20);
  return { done: context.effect };
};
const quickly = (_args: object, context: ToolContext) => {
  apply(context);
  return { done: context.effect };
};

const tools = {
  once: hp.gate({ name: "once", policy: "approve", run: quickly }),
  slow: hp.gate({ name: "slow", policy: "approve", run: slowly }),
  asked: hp.gate({ name: "asked", policy: "escalate", run: slowly }),
  keyed: hp.gate({ name: "keyed", policy: "approve", effect: "keyed", run: slowly }),
  again: hp.gate({ name: "again", policy: "approve", effect: "idempotent", run: slowly }),
  look: hp.gate({ name: "look", policy: "approve", effect: "read", run: () => 1 }),
  capped: hp.gate({
    name: "capped",
    policy: "approve",
    cost: () => ({ budget: "shared", amount: { currency: "USD", micros: 1_000_000n } }),
    run: quickly,
  }),
};

async function lane(tool: keyof typeof tools, number: number): Promise<never> {
  for (let i = 0; ; i++) {
    const requestId = `${name}-${process.pid}-${tool}-${number}-${i}`;
    const answer = await tools[tool]({ i }, { requestId, waitMs: 2_000 });
    const code = "code" in answer ? answer.code : null;
    say({ requestId, tool, executed: answer.status, code, effect: answer.action.replace("act_", "eff_") });
    if (code !== null) await sleep(50);
  }
}

const lanes = Object.keys(tools).flatMap((tool) =>
  [0, 1].map((number) => lane(tool as keyof typeof tools, number)),
);
await Promise.all(lanes);
