/**
 * Operations that wait: ctx.sleep for time, ctx.ask for people, ctx.spawn for another workflow, ctx.send and
 * ctx.waitFor for intents that other agents or people answer.
 */

import type { Waited } from "../../agents/intents/delivery.ts";
import { waitInWorkflow } from "../../agents/intents/rules/answer.ts";
import { readRecipient, sendFromWorkflow } from "../../agents/intents/rules/send.ts";
import {
  checkWaitOptions,
  loadAnswerData,
  nobodyCanDecideError,
  notifyApprovers,
  prepareSending,
} from "../../agents/intents/send-and-answer.ts";
import { type InputSchema, plainJson, schemaRules } from "../../effects/arguments.ts";

import { canonicalJson, digestOf, sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { partLoader } from "../../kernel/load-part.ts";
import { intentStream } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Validation } from "../../policy/rules/tool-rules.ts";
import { freshId } from "../../runtime/runtime.ts";
import { knownSecrets, validateWithSecrets } from "../../runtime/secrets.ts";
import { loadValue, readState } from "../../runtime/store-access.ts";
import { buildCreation, childRunTerms, validInput } from "../define.ts";
import type { Definition, QuestionAnswer, QuestionOptions, WorkflowIntent } from "../definition.ts";
import type { Parent } from "../events.ts";
import { askQuestion } from "../rules/ask.ts";
import { spawnChild } from "../rules/create.ts";
import { recordFacts } from "../rules/lifecycle.ts";
import type { RecordedOp, Settlement } from "../rules/operations.ts";
import type { LiveWorkflow } from "../state.ts";
import { checkPeople, checkTerms } from "./checkpoint.ts";
import { askOperation, type Branch, checkName } from "./operation.ts";
import {
  askedOperation,
  commitRun,
  noteSecrets,
  type OpenWait,
  recordFact,
  refuseSecrets,
  textWithoutSecrets,
  type WorkflowRun,
  withoutSecrets,
} from "./run.ts";

/** A sleep up to this length is slept here; a longer one releases the workflow. */
const SHORT_SLEEP_MS = 50;
const LATEST = 8_640_000_000_000_000;

function waitAt(run: WorkflowRun, op: string, wait: Omit<OpenWait, "op">): void {
  const asked = askedOperation(run, op);
  if (asked !== undefined) run.waits.set(asked.key, { op, ...wait });
}

async function endSleep(run: WorkflowRun, op: string, until: number): Promise<void> {
  for (;;) {
    const left = until - run.runtime.clock.now();
    if (left > SHORT_SLEEP_MS) return waitAt(run, op, { kind: "sleep", on: "time", until });
    if (left > 0) await run.runtime.clock.sleep(left, run.runtime.closing);
    if (run.turned || run.runtime.closing.aborted) return;
    const answer = await recordFact(run, "sleep.ended", { op }, until);
    if (answer.kind !== "early") return;
    // The store's clock decides; ours is ahead of it.
    await run.runtime.clock.sleep(Math.min(until - answer.now, 1_000), run.runtime.closing);
    if (run.runtime.closing.aborted) return;
  }
}

async function beginSleep(run: WorkflowRun, op: string, end: (now: number) => number): Promise<void> {
  let until = 0;
  const answer = await commitRun(run, (draft, runner, before) => {
    until = end(draft.now);
    const event = { type: "sleep.began", tv: 1, body: { op, until } };
    return recordFacts(draft, runner, { phase: "run", events: () => [...before, event] });
  });
  if (answer.kind === "recorded") await endSleep(run, op, until);
}

export function sleepOperation(
  run: WorkflowRun,
  branch: Branch,
  end: (now: number) => number,
): Promise<void> {
  return askOperation(run, branch, {
    kind: "sleep",
    name: "sleep",
    start: (op, record) =>
      record === null ? beginSleep(run, op, end) : endSleep(run, op, Number(record.body["until"])),
    read: async () => undefined,
  });
}

export function checkSleep(ms: unknown): number {
  if (typeof ms !== "number" || !Number.isFinite(ms) || ms < 0 || ms > LATEST)
    return rejectInput("A sleep is a number of milliseconds of at least 0.");
  return Math.ceil(ms);
}

type AskedQuestion = {
  readonly name: string;
  readonly text: string;
  readonly options: QuestionOptions<unknown>;
};

const questionWords = (name: string): string => `The question "${name}"`;

function buildQuestion(run: WorkflowRun, op: string, { name, text, options }: AskedQuestion) {
  const { answer, withinMs, approvers } = options;
  if (withinMs !== undefined && !(Number.isSafeInteger(withinMs) && withinMs > 0))
    return rejectInput(`The question "${name}" has withinMs that is not a whole number of at least 1.`);
  const { schemaText } = schemaRules(answer, undefined);
  const schema =
    schemaText === null ? null : { hash: sha256(Buffer.from(schemaText)), bytes: Buffer.from(schemaText) };
  const question = {
    approval: freshId(run.runtime, "apr"),
    nonce: freshId(run.runtime, "non"),
    kind: "question",
    op,
    name,
    args: plainJson(options.suggestion ?? {}),
    about: schema?.hash ?? digestOf({}),
    says: null,
    reason: text,
    approvers: checkTerms(run, questionWords(name), approvers === undefined ? {} : { approvers }).approvers,
    decideWithinMs: withinMs ?? null,
  } as const;
  return { question, schema };
}

/** Objects passed in by the author may throw when they are read: that is not an error of the store. */
function readQuestion(run: WorkflowRun, op: string, asked: AskedQuestion): ReturnType<typeof buildQuestion> {
  try {
    return buildQuestion(run, op, asked);
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    return rejectInput(`The question "${asked.name}" could not be read: ${errorText(error)}.`);
  }
}

async function askPeople(run: WorkflowRun, op: string, given: AskedQuestion): Promise<void> {
  const text = await textWithoutSecrets(run, given.text);
  const suggestion = await withoutSecrets(run, plainJson(given.options.suggestion ?? {}));
  const asked = { ...given, text, options: { ...given.options, suggestion } };
  const { question, schema } = readQuestion(run, op, asked);
  const { approval, name: tool, decideWithinMs } = question;
  await checkPeople(run, questionWords(tool), question);
  const answer = await commitRun(run, (draft, runner, before) =>
    askQuestion(draft, runner, { question, before, schema }),
  );
  if (answer.kind !== "recorded") return;
  waitAt(run, op, { kind: "question", on: approval, until: null });
  const decideBy = decideWithinMs === null ? null : answer.now + decideWithinMs;
  run.runtime.notify({ kind: "waiting", action: run.id, approval, tool, decideBy });
}

const QUESTION_OPTIONS = ["answer", "suggestion", "approvers", "withinMs"];

/** Other processes check an answer only against JSON Schema; the schema itself validates it here. */
async function checkedAnswer(
  run: WorkflowRun,
  schema: InputSchema<unknown> | undefined,
  answer: Json,
): Promise<Validation> {
  const value = await loadValue(run.runtime, answer);
  if (schema === undefined) return { ok: true, value };
  const known = knownSecrets(run.runtime.secrets);
  await known.load(value);
  return validateWithSecrets(schemaRules(schema, undefined).validate, value, known);
}

export function askQuestionOperation(
  run: WorkflowRun,
  branch: Branch,
  asked: AskedQuestion,
): Promise<QuestionAnswer<Json>> {
  checkName("question", asked.name);
  checkFields(`The question "${asked.name}"`, asked.options, QUESTION_OPTIONS);
  if (typeof asked.text !== "string" || asked.text.trim() === "") rejectInput("A question has a text.");
  return askOperation(run, branch, {
    kind: "question",
    name: asked.name,
    start: async (op, record) => {
      if (record === null) await askPeople(run, op, asked);
      else waitAt(run, op, { kind: "question", on: String(record.body["approval"]), until: null });
    },
    read: async (settlement) => {
      if (settlement.kind !== "question") throw new TypeError("a question settled as something else");
      const { status, answer, by, reason } = settlement.end;
      if (status !== "answered") return { answered: false, why: status, reason };
      const checked = await checkedAnswer(run, asked.options.answer, answer);
      if (!checked.ok)
        return { answered: false, why: "invalid", reason: `the answer does not fit: ${checked.issues}` };
      return { answered: true, answer: structuredClone(checked.value), by: [...by], note: reason };
    },
  });
}

/** Thrown into the definition when a child has failed. */
export class ChildFailed extends Error {
  override readonly name = "ChildFailed";
  readonly code = "child_failed";
  readonly workflow: string;

  constructor(message: string, workflow: string) {
    super(message);
    this.workflow = workflow;
  }
}

/** All ancestors of a child, as far as its parent knows them. */
function ancestorsField({ parent }: Pick<LiveWorkflow, "parent">): Pick<Parent, "above"> {
  if (parent === null) return { above: [] };
  return parent.above === undefined ? {} : { above: [parent.workflow, ...parent.above] };
}

async function spawnWorkflow(run: WorkflowRun, op: string, child: Definition, input: Json): Promise<void> {
  await refuseSecrets(run, `the input of "${child.name}"`, input);
  const parent = { workflow: run.id, op, ...ancestorsField(run.state) };
  const { rollbackEnabled, requester } = run.state;
  const origin = {
    requestId: op,
    parent,
    requester,
    epoch: null,
    rollbackEnabled,
    terms: childRunTerms(run.definition, run.state),
  };
  const creation = buildCreation(run.runtime, child, validInput(child, input), origin);
  const answer = await commitRun(run, (draft, runner, before) =>
    spawnChild(draft, runner, { op, before, creation, inputDigest: digestOf(input) }),
  );
  if (answer.kind === "recorded") waitAt(run, op, { kind: "child", on: creation.workflow, until: null });
}

export function spawnOperation(
  run: WorkflowRun,
  branch: Branch,
  child: Definition,
  given: unknown,
): Promise<Json> {
  const input = plainJson(given);
  noteSecrets(run, input);
  return askOperation(run, branch, {
    kind: "child",
    name: child.name,
    differs: (record) =>
      record.body["inputDigest"] === digestOf(input)
        ? undefined
        : `the input of "${record.key}" is not the one recorded`,
    asked: (op) => void run.children.set(op, child),
    start: async (op: string, record: RecordedOp | null) => {
      if (record === null) await spawnWorkflow(run, op, child, input);
      else waitAt(run, op, { kind: "child", on: String(record.body["child"]), until: null });
    },
    read: async (settlement) => {
      if (settlement.kind !== "child") throw new TypeError("a child settled as something else");
      const { status, result, reason, child: id } = settlement.end;
      if (status === "failed") throw new ChildFailed(`The workflow ${id} failed: ${reason}`, id);
      return JSON.parse(canonicalJson(await loadValue(run.runtime, result))) as Json;
    },
  });
}

const load = partLoader(import.meta.url);
/** Schemas load when a workflow first sends. */
function readOutgoing(given: unknown) {
  const { readOutgoingIntent } = load<typeof import("../../agents/intents/contract.ts")>(
    "../../agents/intents/contract.ts",
  );
  const { via: _via, ...intent } = readOutgoingIntent(given);
  return { ...intent, to: readRecipient(intent.intentType, intent.toAgent) ?? intent.toAgent };
}

type Outgoing = ReturnType<typeof readOutgoing>;

/** With separation of duties, the poster and the executor of the work may not decide. */
function keptApartFromDeciding({ runtime, state }: WorkflowRun): readonly string[] | null {
  if (runtime.separate !== true) return null;
  const { poster, executor } = state.parties;
  return [poster, executor].filter((who) => who !== null);
}

async function sendIntentOnce(run: WorkflowRun, op: string, given: Outgoing): Promise<void> {
  await refuseSecrets(run, `the payload of "${given.intentType}"`, plainJson(given.payload));
  const { agent: from, requester } = run.state;
  const within = { workflow: run.id, op };
  const sending = prepareSending(run.runtime, given, {
    from,
    requester,
    within,
    apart: keptApartFromDeciding(run),
  });
  const answer = await commitRun(run, (draft, runner, before) => {
    const sent = sendFromWorkflow(draft, runner, { op, before, sending });
    if (sent.kind === "unmeetable") throw nobodyCanDecideError(given.to, sent.reason);
    return sent;
  });
  if (answer.kind === "recorded" && answer.events.length > 0)
    notifyApprovers(run.runtime, sending, answer.now);
}

function sendDiffers({ body, key }: RecordedOp, { intentType, to }: Outgoing, digest: string) {
  const isSame = body["intentType"] === intentType && body["to"] === to && body["payloadDigest"] === digest;
  return isSame ? undefined : `the intent "${key}" is not the one recorded`;
}

export function sendOperation(
  run: WorkflowRun,
  branch: Branch,
  name: string,
  intent: WorkflowIntent,
): Promise<string> {
  checkName("intent", name);
  const payload = plainJson(intent?.payload);
  const given = readOutgoing({ ...intent, payload });
  noteSecrets(run, payload);
  const digest = digestOf(payload);
  return askOperation(run, branch, {
    kind: "send",
    name,
    differs: (record) => sendDiffers(record, given, digest),
    start: async (op, record) => {
      if (record === null) await sendIntentOnce(run, op, given);
    },
    read: async (settlement) => {
      if (settlement.kind !== "value") throw new TypeError("an intent was sent as something else");
      return String(settlement.value);
    },
  });
}

type IntentWait = { readonly op: string; readonly intent: string; readonly withinMs: number | null };

/** The store's clock decides when the definition has waited long enough. */
async function giveUpWaiting(run: WorkflowRun, { op, intent }: IntentWait, until: number): Promise<void> {
  const end = { op, intent, status: "timed_out_waiting", data: null, reason: "" };
  const answer = await recordFact(run, "wait.ended", end, until);
  if (answer.kind === "early") waitAt(run, op, { kind: "intent", on: intent, until });
}

async function beginWaiting(run: WorkflowRun, waiting: IntentWait, isKnown: boolean): Promise<void> {
  const { intent } = waiting;
  await commitRun(run, (draft, runner, before) => {
    const answer = waitInWorkflow(draft, runner, { ...waiting, isKnown, before });
    if (answer.kind === "unknown")
      throw new HoldpointError("invalid_input", `There is no intent ${intent} to wait for.`);
    return answer;
  });
}

async function waitForIntent(run: WorkflowRun, waiting: IntentWait, known: RecordedOp | null): Promise<void> {
  const { op, intent } = waiting;
  await beginWaiting(run, waiting, known !== null);
  const record = [...run.table.ops.values()].find((one) => one.op === op);
  if (record === undefined || record.settled !== null || run.turned) return;
  const until = typeof record.body["until"] === "number" ? record.body["until"] : null;
  if (until !== null && run.runtime.clock.now() >= until) return giveUpWaiting(run, waiting, until);
  waitAt(run, op, { kind: "intent", on: intent, until });
}

async function readWait(run: WorkflowRun, settlement: Settlement): Promise<Waited> {
  if (settlement.kind !== "wait") throw new TypeError("a wait settled as something else");
  const { status, intent, data, reason } = settlement.end;
  if (status === "timed_out_waiting") return { status, intent };
  if (status !== "completed") return { status, intent, reason };
  const state = await readState(run.runtime, intentStream(intent));
  const approval = state.status === "none" ? null : state.approval;
  const value =
    approval === null
      ? await loadValue(run.runtime, data)
      : await loadAnswerData(run.runtime, data, approval);
  return { status, intent, data: structuredClone(value) };
}

export function waitForOperation(
  run: WorkflowRun,
  branch: Branch,
  name: string,
  [id, options]: readonly [string, { readonly timeoutSeconds?: number }],
): Promise<Waited> {
  checkName("wait", name);
  const intent = checkId("An intent", id);
  const { timeoutSeconds } = checkWaitOptions(options);
  const withinMs = timeoutSeconds === undefined ? null : Math.ceil(timeoutSeconds * 1_000);
  return askOperation(run, branch, {
    kind: "wait",
    name,
    differs: ({ body, key }) =>
      body["intent"] === intent ? undefined : `the wait "${key}" is for another intent than the one recorded`,
    start: (op, record) => waitForIntent(run, { op, intent, withinMs }, record),
    read: (settlement) => readWait(run, settlement),
  });
}
