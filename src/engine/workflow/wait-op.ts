/** `ctx.sleep`, `ctx.ask` and `ctx.spawn`: operations that wait for time, for people, or for another workflow. */

import { askQuestion } from "../../core/workflow/ask.ts";
import { spawnChild } from "../../core/workflow/create.ts";
import type { Parent } from "../../core/workflow/events.ts";
import { recordFacts } from "../../core/workflow/run.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { plainJson } from "../../effects/arguments.ts";
import { type InputSchema, schemaRules } from "../../effects/input-schema.ts";
import { canonicalJson, digestOf, sha256 } from "../../kernel/canonical-json.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";
import type { Validation } from "../../policy/rules/tool-rules.ts";
import { freshId } from "../../runtime/runtime.ts";
import { knownSecrets, validateWithSecrets } from "../../runtime/secrets.ts";
import { loadValue } from "../../runtime/store-access.ts";

import { approversOf, checkPeople } from "./approvers-of.ts";
import { creationOf, termsOfChild, validInput } from "./create.ts";
import type { Asked, Definition, QuestionOptions } from "./definition.ts";
import { ask, type Branch, checkName } from "./operation.ts";
import type { RecordedOp } from "./recorded.ts";
import { noteSecrets, refuseSecrets, textWithoutSecrets, withoutSecrets } from "./redact.ts";
import { commit, type OpenWait, type Run } from "./run.ts";

/** A sleep of this length is slept here; a longer one lets go of the workflow. */
const SHORT_SLEEP_MS = 50;
const LATEST = 8_640_000_000_000_000;

export function waitAt(run: Run, op: string, wait: Omit<OpenWait, "op">): void {
  const asked = [...run.asked.values()].find((one) => one.op === op);
  if (asked !== undefined) run.waits.set(asked.key, { op, ...wait });
}

async function endSleep(run: Run, op: string, until: number): Promise<void> {
  const event = { type: "sleep.ended", tv: 1, body: { op } };
  for (;;) {
    const left = until - run.runtime.clock.now();
    if (left > SHORT_SLEEP_MS) return waitAt(run, op, { kind: "sleep", on: "time", until });
    if (left > 0) await run.runtime.clock.sleep(left, run.runtime.closing);
    if (run.turned || run.runtime.closing.aborted) return;
    const answer = await commit(run, (draft, runner, before) =>
      recordFacts(draft, runner, { phase: "run", events: () => [...before, event], notBefore: until }),
    );
    if (answer.kind !== "early") return;
    // The store's clock decides; ours is ahead of it.
    await run.runtime.clock.sleep(Math.min(until - answer.now, 1_000), run.runtime.closing);
    if (run.runtime.closing.aborted) return;
  }
}

async function beginSleep(run: Run, op: string, end: (now: number) => number): Promise<void> {
  let until = 0;
  const answer = await commit(run, (draft, runner, before) => {
    until = end(draft.now);
    const event = { type: "sleep.began", tv: 1, body: { op, until } };
    return recordFacts(draft, runner, { phase: "run", events: () => [...before, event] });
  });
  if (answer.kind === "recorded") await endSleep(run, op, until);
}

export function sleepFor(run: Run, branch: Branch, end: (now: number) => number): Promise<void> {
  return ask(run, branch, {
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

type Question = { readonly name: string; readonly text: string; readonly options: QuestionOptions<unknown> };

function questionOf(run: Run, op: string, { name, text, options }: Question) {
  const { answer, withinMs } = options;
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
    approvers: approversOf(run, name, options.approvers),
    decideWithinMs: withinMs ?? null,
  } as const;
  return { question, schema };
}

/** What its author hands in may throw wherever it is looked at: that is no fault of the store. */
function readQuestion(run: Run, op: string, asked: Question): ReturnType<typeof questionOf> {
  try {
    return questionOf(run, op, asked);
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    return rejectInput(`The question "${asked.name}" could not be read: ${errorText(error)}.`);
  }
}

async function askPeople(run: Run, op: string, given: Question): Promise<void> {
  const text = await textWithoutSecrets(run, given.text);
  const suggestion = await withoutSecrets(run, plainJson(given.options.suggestion ?? {}));
  const asked = { ...given, text, options: { ...given.options, suggestion } };
  const { question, schema } = readQuestion(run, op, asked);
  const { approval, name: tool, decideWithinMs } = question;
  await checkPeople(run, tool, question);
  const answer = await commit(run, (draft, runner, before) =>
    askQuestion(draft, runner, { question, before, schema }),
  );
  if (answer.kind !== "recorded") return;
  waitAt(run, op, { kind: "question", on: approval, until: null });
  const decideBy = decideWithinMs === null ? null : answer.now + decideWithinMs;
  run.runtime.notify({ kind: "waiting", action: run.id, approval, tool, decideBy });
}

const OPTIONS = ["answer", "suggestion", "approvers", "withinMs"];

/** People's processes know the schema only as far as JSON Schema can say it: its own word is asked for here. */
async function checkedAnswer(
  run: Run,
  schema: InputSchema<unknown> | undefined,
  answer: Json,
): Promise<Validation> {
  const value = await loadValue(run.runtime, answer);
  if (schema === undefined) return { ok: true, value };
  const known = knownSecrets(run.runtime.secrets);
  await known.load(value);
  return validateWithSecrets(schemaRules(schema, undefined).validate, value, known);
}

export function askQuestionOf(run: Run, branch: Branch, asked: Question): Promise<Asked<Json>> {
  checkName("question", asked.name);
  checkFields(`The question "${asked.name}"`, asked.options, OPTIONS);
  if (typeof asked.text !== "string" || asked.text.trim() === "") rejectInput("A question has a text.");
  return ask(run, branch, {
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

/** Thrown to the definition when a child has failed. */
export class ChildFailed extends Error {
  override readonly name = "ChildFailed";
  readonly code = "child_failed";
  readonly workflow: string;

  constructor(message: string, workflow: string) {
    super(message);
    this.workflow = workflow;
  }
}

/** All workflows above a child, as far as its parent knows them. */
function aboveOf({ parent }: Pick<LiveWorkflow, "parent">): Pick<Parent, "above"> {
  if (parent === null) return { above: [] };
  return parent.above === undefined ? {} : { above: [parent.workflow, ...parent.above] };
}

async function spawn(run: Run, op: string, child: Definition, input: Json): Promise<void> {
  await refuseSecrets(run, `the input of "${child.name}"`, input);
  const parent = { workflow: run.id, op, ...aboveOf(run.state) };
  const { rollbackEnabled, requester } = run.state;
  const origin = {
    requestId: op,
    parent,
    requester,
    epoch: null,
    rollbackEnabled,
    terms: termsOfChild(run.definition, run.state),
  };
  const creation = creationOf(run.runtime, child, validInput(child, input), origin);
  const answer = await commit(run, (draft, runner, before) =>
    spawnChild(draft, runner, { op, before, creation, inputDigest: digestOf(input) }),
  );
  if (answer.kind === "recorded") waitAt(run, op, { kind: "child", on: creation.workflow, until: null });
}

export function spawnOf(run: Run, branch: Branch, child: Definition, given: unknown): Promise<Json> {
  const input = plainJson(given);
  noteSecrets(run, input);
  return ask(run, branch, {
    kind: "child",
    name: child.name,
    differs: (record) =>
      record.body["inputDigest"] === digestOf(input)
        ? undefined
        : `the input of "${record.key}" is not the one recorded`,
    asked: (op) => void run.children.set(op, child),
    start: async (op: string, record: RecordedOp | null) => {
      if (record === null) await spawn(run, op, child, input);
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
