/** `ctx.send` and `ctx.waitFor`: what a workflow asks of other agents and of people, and the waiting for it. */

import { recordFacts } from "../../core/workflow/run.ts";
import { sendFrom, waitIn } from "../../core/workflow/send.ts";
import { plainJson } from "../../effects/arguments.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkId } from "../../kernel/fields.ts";
import { intentStream } from "../../kernel/stream.ts";
import { loadValue, readState } from "../../runtime/store-access.ts";
import { checkOutgoing, checkWait } from "../intent/check-intent.ts";
import { loadData } from "../intent/intents.ts";
import { sendingOf, tellAsked, unmeetable } from "../intent/send.ts";
import type { Waited } from "../intent/wait.ts";
import type { SentFromFlow } from "./definition.ts";
import { ask, type Branch, checkName } from "./operation.ts";
import type { RecordedOp, Settlement } from "./recorded.ts";
import { noteSecrets, refuseSecrets } from "./redact.ts";
import { commit, type Run } from "./run.ts";
import { waitAt } from "./wait-op.ts";

type Outgoing = ReturnType<typeof checkOutgoing>;

/** Under separation of duties, whoever posted the work or does it is not among those who decide. */
function apartOf({ runtime, state }: Run): readonly string[] | null {
  if (runtime.separate !== true) return null;
  const { poster, executor } = state.parties;
  return [poster, executor].filter((who) => who !== null);
}

async function send(run: Run, op: string, given: Outgoing): Promise<void> {
  await refuseSecrets(run, `the payload of "${given.intentType}"`, plainJson(given.payload));
  const { agent: from, requester } = run.state;
  const within = { workflow: run.id, op };
  const sending = sendingOf(run.runtime, given, { from, requester, within, apart: apartOf(run) });
  const answer = await commit(run, (draft, runner, before) => {
    const sent = sendFrom(draft, runner, { op, before, sending });
    if (sent.kind === "unmeetable") throw unmeetable(given.to, sent.reason);
    return sent;
  });
  if (answer.kind === "recorded" && answer.events.length > 0) tellAsked(run.runtime, sending, answer.now);
}

function sendDiffers({ body, key }: RecordedOp, { intentType, to }: Outgoing, digest: string) {
  const isSame = body["intentType"] === intentType && body["to"] === to && body["payloadDigest"] === digest;
  return isSame ? undefined : `the intent "${key}" is not the one recorded`;
}

export function sendOf(run: Run, branch: Branch, name: string, intent: SentFromFlow): Promise<string> {
  checkName("intent", name);
  const payload = plainJson(intent?.payload);
  const given = checkOutgoing({ ...intent, payload });
  noteSecrets(run, payload);
  const digest = digestOf(payload);
  return ask(run, branch, {
    kind: "send",
    name,
    differs: (record) => sendDiffers(record, given, digest),
    start: async (op, record) => {
      if (record === null) await send(run, op, given);
    },
    read: async (settlement) => {
      if (settlement.kind !== "value") throw new TypeError("an intent was sent as something else");
      return String(settlement.value);
    },
  });
}

type Waiting = { readonly op: string; readonly intent: string; readonly withinMs: number | null };

/** The store's clock decides when the definition has waited long enough. */
async function giveUp(run: Run, { op, intent }: Waiting, until: number): Promise<void> {
  const end = { op, intent, status: "timed_out_waiting", data: null, reason: "" };
  const event = { type: "wait.ended", tv: 1, body: end };
  const answer = await commit(run, (draft, runner, before) =>
    recordFacts(draft, runner, { phase: "run", events: () => [...before, event], notBefore: until }),
  );
  if (answer.kind === "early") waitAt(run, op, { kind: "intent", on: intent, until });
}

async function begin(run: Run, waiting: Waiting, isKnown: boolean): Promise<void> {
  const { intent } = waiting;
  await commit(run, (draft, runner, before) => {
    const answer = waitIn(draft, runner, { ...waiting, isKnown, before });
    if (answer.kind === "unknown")
      throw new HoldpointError("invalid_input", `There is no intent ${intent} to wait for.`);
    return answer;
  });
}

async function wait(run: Run, waiting: Waiting, known: RecordedOp | null): Promise<void> {
  const { op, intent } = waiting;
  await begin(run, waiting, known !== null);
  const record = [...run.table.ops.values()].find((one) => one.op === op);
  if (record === undefined || record.settled !== null || run.turned) return;
  const until = typeof record.body["until"] === "number" ? record.body["until"] : null;
  if (until !== null && run.runtime.clock.now() >= until) return giveUp(run, waiting, until);
  waitAt(run, op, { kind: "intent", on: intent, until });
}

async function readWait(run: Run, settlement: Settlement): Promise<Waited> {
  if (settlement.kind !== "wait") throw new TypeError("a wait settled as something else");
  const { status, intent, data, reason } = settlement.end;
  if (status === "timed_out_waiting") return { status, intent };
  if (status !== "completed") return { status, intent, reason };
  const state = await readState(run.runtime, intentStream(intent));
  const approval = state.status === "none" ? null : state.approval;
  const value =
    approval === null ? await loadValue(run.runtime, data) : await loadData(run.runtime, data, approval);
  return { status, intent, data: structuredClone(value) };
}

export function waitForOf(
  run: Run,
  branch: Branch,
  name: string,
  [id, options]: readonly [string, { readonly timeoutSeconds?: number }],
): Promise<Waited> {
  checkName("wait", name);
  const intent = checkId("An intent", id);
  const { timeoutSeconds } = checkWait(options);
  const withinMs = timeoutSeconds === undefined ? null : Math.ceil(timeoutSeconds * 1_000);
  return ask(run, branch, {
    kind: "wait",
    name,
    differs: ({ body, key }) =>
      body["intent"] === intent ? undefined : `the wait "${key}" is for another intent than the one recorded`,
    start: (op, record) => wait(run, { op, intent, withinMs }, record),
    read: (settlement) => readWait(run, settlement),
  });
}
