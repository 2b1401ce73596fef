/**
 * A program in a process of its own: calls one tool, whose effect is a line in a file (the world), and says what came of
 * it as JSON. It kills itself, as by power failure, at the point it is told.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallOptions, type EffectClass, holdpoint, type ProbeResult } from "../../../src/index.ts";

export type WorkerInput = {
  readonly folder: string;
  readonly keyFile: string;
  readonly world: string;
  readonly effect?: EffectClass;
  readonly policy?: "approve" | "escalate";
  readonly args?: { readonly [key: string]: unknown };
  readonly options?: CallOptions;
  readonly killAt?: string;
  /** Stays, and asks again until the call is done. */
  readonly stays?: boolean;
};

const input = JSON.parse(process.argv[2] ?? "{}") as WorkerInput;
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const worldLines = (): readonly string[] =>
  existsSync(input.world) ? readFileSync(input.world, "utf8").split("\n").filter(Boolean) : [];

const hp = holdpoint({
  folder: input.folder,
  keyFile: input.keyFile,
  agent: "worker",
  notify: (notice) => say({ notice }),
  reach: (point) => {
    if (point === input.killAt) process.kill(process.pid, "SIGKILL");
  },
});

const tool = hp.gate({
  name: "act",
  effect: input.effect ?? "once",
  policy: input.policy ?? "approve",
  run: (_args: object, context: { readonly idempotencyKey: string }) => {
    // A receiver that honours the key, like a payment API.
    if (!worldLines().includes(context.idempotencyKey))
      appendFileSync(input.world, `${context.idempotencyKey}\n`);
    say({ ran: context.idempotencyKey });
    return "done";
  },
  verify: ({ idempotencyKey }: { readonly idempotencyKey: string }): ProbeResult => ({
    answer: worldLines().includes(idempotencyKey) ? "applied" : "not_applied",
    evidence: { lines: worldLines().length },
  }),
} as Parameters<typeof hp.gate<object, string>>[0]);

const call = () => tool(input.args ?? {}, { requestId: "job", ...input.options });
let answer = await call();
while (input.stays === true && answer.status !== "done") {
  await sleep(50);
  answer = await call();
}
say({ answer });
await hp.close();
