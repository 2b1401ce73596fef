/** One executing process: calls every tool without end, and writes down what it asked and what it was answered. */
import { AsyncLocalStorage } from "node:async_hooks";
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { type GatedTool, type Holdpoint, holdpoint, isHoldpointError } from "../../src/index.ts";
import { errorText } from "../../src/kernel/text.ts";
import { createDeath, type Go, listen, report } from "./orders.ts";
import type { Point } from "./places.ts";
import { createReceiver } from "./receiver.ts";
import { logOf, optionsOf, readSetup, storeOf } from "./setup.ts";
import { type Asked, openLog } from "./told.ts";
import { type Args, declare, type Spec, specsFor } from "./tools.ts";

type Call = { readonly about: string; readonly requestId: string; starts: number };

const setup = readSetup();
const specs = specsFor(storeOf(setup));
const calls = new AsyncLocalStorage<Call>();
const death = createDeath(() => calls.getStore());

function reach(point: Point): void {
  const call = calls.getStore();
  if (point === "before_start" && call !== undefined) call.starts++;
  death.reach(point);
}

type Work = { readonly hp: Holdpoint; readonly tools: ReadonlyMap<string, GatedTool<Args, unknown>> };

async function open(name: string): Promise<Work> {
  const hp = holdpoint({ ...(await optionsOf(setup)), agent: name, notify: () => undefined, reach });
  const receiver = createReceiver(setup.port);
  const hooks = { written: () => reach("request_written"), inTransaction: () => reach("in_transaction") };
  return { hp, tools: new Map(specs.map((spec) => [spec.name, declare(hp, spec, receiver, hooks)])) };
}

/** Taken for dead: this process may do nothing more, and the next one begins again. */
const TAKEN_FOR_DEAD = 3;

type Write = ReturnType<typeof openLog>;

/** Asks once; answers whether it is over. */
async function askOnce(call: GatedTool<Args, unknown>, { requestId, tool, n }: Asked, write: Write) {
  const answer = await calls.run({ about: tool, requestId, starts: 0 }, () =>
    call({ n, to: "somebody" }, { requestId, waitMs: 5_000 }),
  );
  const { status, action } = answer;
  const code = "code" in answer ? answer.code : null;
  const seq = "code" in answer ? null : answer.receipt.seq;
  write({ kind: "call", requestId, action, status, code, seq });
  return !("code" in answer) || !answer.retry;
}

async function ask(work: Work, asked: Asked, write: Write): Promise<void> {
  const call = work.tools.get(asked.tool);
  while (call !== undefined) {
    try {
      if (await askOnce(call, asked, write)) return;
    } catch (error) {
      if (isHoldpointError(error, "epoch_ended")) process.exit(TAKEN_FOR_DEAD);
      if (!(isHoldpointError(error) && error.retryable))
        return write({ kind: "wrong", what: `${asked.requestId}: ${errorText(error)}` });
    }
    await sleep(50);
  }
}

/** Calls of one tool, one after the other: first those that the process before left open. */
async function lane(work: Work, spec: Spec, { name, again }: Go["go"]): Promise<never> {
  const write = openLog(logOf(setup, name));
  for (const asked of again.filter(({ tool }) => tool === spec.name)) await ask(work, asked, write);
  for (let i = 0; ; i++) {
    const requestId = `${name}-${process.pid}-${spec.name}-${i}`;
    const asked = { kind: "asked", requestId, tool: spec.name, n: process.pid + i } as const;
    write(asked);
    await ask(work, asked, write);
    await sleep(spec.pauseMs * (0.5 + Math.random()));
  }
}

const LOOKS = 40;
const LOOK_MS = 150;

async function load(go: Go["go"]): Promise<void> {
  death.take(go.order);
  const work = await open(go.name);
  await work.hp.budgets.get("shared");
  report({ kind: "running" });
  // Outside every call, so that what is taken over has none.
  const recover = () => work.hp.recover().catch(() => undefined);
  if (go.order === null) void recover();
  // Whoever has to die while taking over looks until it can, before its first call.
  for (let looks = 0; go.order !== null && looks < LOOKS; looks++) {
    await recover();
    await sleep(LOOK_MS);
  }
  await Promise.all(specs.map((spec) => lane(work, spec, go)));
}

/** Takes over what the dead left, lets probes tell, and ends. */
async function settle({ name }: Go["go"]): Promise<void> {
  const { hp } = await open(name);
  await hp.recover();
  report({ kind: "running" });
  await sleep(400);
  await hp.close();
  process.exit(0);
}

flushCompileCache();
listen((go) => void (go.work === "load" ? load(go) : settle(go)), death.take);
