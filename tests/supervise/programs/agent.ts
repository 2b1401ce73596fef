/** An agent in a process of its own: a model at an address, tools whose effects are lines in a file, and its result as JSON. */
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { holdpoint } from "../../../src/index.ts";

export type AgentInput = {
  readonly folder: string;
  readonly keyFile: string;
  readonly world: string;
  readonly baseUrl: string;
  readonly stream: boolean;
};

const input = JSON.parse(process.argv[2] ?? "{}") as AgentInput;
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const hp = holdpoint({
  folder: input.folder,
  keyFile: input.keyFile,
  agent: "refunds",
  notify: (notice) => say({ notice: notice.kind }),
});

const context = hp.gate({
  name: "get_refund_context",
  effect: "read",
  policy: "approve",
  input: z.object({ user_id: z.int() }),
  run: ({ user_id }) => ({ user_id, last_charge_usd: 1200 }),
});
const refund = hp.gate({
  name: "issue_refund",
  policy: ({ args }) => (args.amount_usd > 1000 ? "escalate" : "approve"),
  input: z.object({ user_id: z.int(), amount_usd: z.number() }),
  run: ({ amount_usd }) => {
    appendFileSync(input.world, `refund ${amount_usd}\n`);
    return { status: "ok", amount_usd };
  },
});

const result = await hp.supervise({
  id: "ticket-7",
  goal: "Refund Anna (user 42) her 1200 USD.",
  tools: [context, refund],
  model: {
    baseUrl: input.baseUrl,
    model: "scripted",
    apiKey: "sk-never-journaled-000",
    stream: input.stream,
  },
});
say({ result });
await hp.close();
