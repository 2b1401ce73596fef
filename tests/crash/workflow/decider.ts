/** The people, in a process of their own: they decide what is asked, and end doubts by the receiver's word. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApprovalSummary, type Holdpoint, holdpoint, isHoldpointError } from "../../../src/index.ts";
import { isJsonObject } from "../../../src/kernel/json.ts";
import { errorText } from "../../../src/kernel/text.ts";
import { createReceiver } from "../receiver.ts";
import { optionsOf } from "../setup.ts";
import { modeOf, REASON } from "./definition.ts";
import { createArrival, type Go, listen, readSetup, report } from "./messages.ts";
import { placeName } from "./whereabouts.ts";

const setup = readSetup();
const arrival = createArrival();
const decisions = new AsyncLocalStorage<string>();
const receiver = createReceiver(setup.port);
const by = "person:ann";
const ROUND_MS = 25;

function reach(point: string): void {
  const about = decisions.getStore();
  if (about !== undefined) arrival.arrive(placeName(point, about), null);
}

/** Whatever has been decided meanwhile is a refusal, which is in order here; anything else is not. */
async function patiently(what: string, ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (!isHoldpointError(error)) report({ kind: "wrong", what: `${what}: ${errorText(error)}` });
  }
}

/** Always the same for a question, so that a decision that was cut off is made again. */
async function kindOf(hp: Holdpoint, { id, tool }: ApprovalSummary): Promise<string> {
  if (tool !== "Release") return String(tool);
  const { args } = await hp.approvals.get(id);
  return isJsonObject(args) && args["attempt"] === 1 ? "Release rejected" : "Release";
}

async function decide(hp: Holdpoint, item: ApprovalSummary): Promise<void> {
  const { id } = item;
  const kind = await kindOf(hp, item);
  const vote = () => {
    if (kind === "Release rejected") return hp.approvals.reject(id, { by, reason: REASON });
    return hp.approvals.approve(id, kind === "Build" ? { by, edit: { crew: 3 } } : { by });
  };
  const { status } = await decisions.run(kind, vote);
  report({ kind: "decided", approval: id, status });
}

/** Asked twice: whatever had reached the receiver before the first question is in its log at the second. */
async function endDoubt(hp: Holdpoint, effect: string, tool: string): Promise<void> {
  await receiver.get(modeOf(tool), effect);
  const applied = (await receiver.get(modeOf(tool), effect)).result !== null;
  const status = applied ? "applied" : "not_applied";
  await hp.actions.resolve(effect, { by, status, reason: "the receiver's log says so" });
  report({ kind: "resolved", effect, applied });
}

async function work(go: Go): Promise<never> {
  arrival.take(go);
  const hp = holdpoint({ ...(await optionsOf(setup)), agent: go.name, notify: () => undefined, reach });
  report({ kind: "running" });
  for (;;) {
    await patiently("the people", async () => {
      const { items } = await hp.approvals.list({ limit: 200 });
      const doubts = (await hp.actions.list({ phase: "in_doubt", limit: 200 })).items;
      await Promise.all([
        ...items.map((item) => patiently(item.id, () => decide(hp, item))),
        ...doubts.map((one) =>
          patiently(one.id, () => endDoubt(hp, String(one["effect"]), String(one["tool"]))),
        ),
      ]);
    });
    await sleep(ROUND_MS);
  }
}

listen((go) => void work(go));
