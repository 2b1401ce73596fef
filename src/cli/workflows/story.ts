/**
 * A workflow in words for people: what it is doing and what will happen to it; its journal as a story, with who did what, by
 * which receipt, and what was undone; and the progress that `holdpoint run` prints.
 */

import { typedName } from "../../approvals/card-checkpoint.ts";
import type { Holdpoint } from "../../index.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { quotedName, visible } from "../../kernel/text.ts";
import { TENANT_SCOPE } from "../../kill-switch/stream.ts";
import { type Notice, noticeText } from "../../runtime/notices.ts";
import type { WorkflowEntry } from "../../workflows/rules/operations.ts";
import { parseObstacle } from "../../workflows/state.ts";
import type { WorkflowDetails } from "../../workflows/views.ts";
import { fold, formatMoment, pad, type Style, type Terminal } from "../shell/terminal.ts";

export const STATUS_STYLES: { readonly [status: string]: Style } = {
  awaiting_approval: "yellow",
  rolling_back: "yellow",
  completed: "green",
  failed: "red",
};

export const statusWords = (status: string): string => status.replaceAll("_", " ");

/** Passed checkpoints out of those declared; a checkpoint may be passed several times. */
export function passedWords(passed: number, declared: number): string {
  return declared === 0 ? String(passed) : `${passed}/${declared}`;
}

/** For a fork, where it was forked. */
export function startWords({ fork }: Pick<WorkflowDetails, "fork">): string {
  if (fork === null) return "the start";
  return `where it was forked, ${quotedName(fork.checkpoint)} of ${visible(fork.workflow)}`;
}

export function placeWords(state: WorkflowDetails, op: string | null): string {
  if (op === null) return startWords(state);
  const found = state.passed.findLast((one) => one.op === op);
  return found === undefined ? visible(op) : quotedName(found.name);
}

/** The obstacle that holds a workflow up, as recorded: `switch/tenant`, `budget/trip`. */
export function heldWords(on: string): string {
  const ref = parseObstacle(on);
  if (ref === undefined) return visible(on);
  if (ref.kind === "budget") return `room in the budget "${visible(ref.id)}"`;
  return `the kill switch of ${ref.id === TENANT_SCOPE ? "every agent" : visible(ref.id)} to be released`;
}

/** No command runs a definition: a process that has it continues the workflow. */
export function goesOnWords(name: string): string {
  return `A process that has the definition ${quotedName(name)} goes on by itself, now or when it runs again.`;
}

/** A checkpoint as typed after a flag. A name with unusual characters is replaced by its snapshot's id. */
export function typedCheckpoint(name: string, snapshot: string): string {
  return typedName(name) ?? snapshot;
}

/** For an intent that people have decided. */
export const intentToldWords = (intent: string): string =>
  `The intent ${intent} has its answer: those who wait for it are told, now or when they run again.`;

export type StoryLine = { readonly who: string; readonly did: string; readonly what: string };
type StoryState = { agent: string; readonly undos: Map<string, string>; readonly asked: Map<string, Json> };
type DescribeEntry = (body: JsonObject, told: StoryState) => StoryLine | undefined;

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const listed = (value: Json | undefined): string =>
  Array.isArray(value) ? value.map(String).join(", ") : "";
const quoted = (value: Json | undefined): string => (text(value) === "" ? "" : `"${text(value)}"`);
const short = (id: string): string => `${id.slice(0, 4)}…${id.slice(-6)}`;

/** The name in an operation's id: `room.book` of `wf_…/1//room.book#1`. */
const nameInOperation = (op: Json | undefined): string => /([^/]*)#\d+$/.exec(text(op))?.[1] ?? text(op);

function answerText(answer: Json | undefined): string {
  if (!isJsonObject(answer)) return "";
  const { receipt } = answer;
  if (answer["executed"] === "in_doubt") return `in doubt: ${text(answer["reason"])}`;
  if (answer["executed"] !== true) return `not done: ${text(answer["reason"])}`;
  return isJsonObject(receipt) ? `done, receipt ${short(text(receipt["effect"]))}` : "done";
}

/** The fields that an edit changed: `pizzas 100 → 10`. */
function changedFields(before: Json | undefined, after: Json | undefined): string {
  if (!isJsonObject(before) || !isJsonObject(after)) return "";
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`)
    .join(", ");
}

function decided(body: JsonObject, { asked }: StoryState): StoryLine {
  const did = text(body["decision"]);
  const changed = did === "modified" ? changedFields(asked.get(text(body["op"])), body["outputs"]) : "";
  const what = [changed, quoted(body["reason"])].filter((part) => part !== "").join(" ");
  return { who: listed(body["by"]) || "nobody", did, what: what || nameInOperation(body["op"]) };
}

function undone(body: JsonObject, { agent, undos }: StoryState): StoryLine {
  const action = text(body["action"]);
  const receipt = `done, receipt ${short(action.replace(/^act_/, "eff_"))}`;
  const what = body["status"] === "undone" ? receipt : `not done: ${text(body["reason"])}`;
  return { who: agent, did: undos.get(action) ?? "undo", what };
}

type Words = (body: JsonObject) => string;
const byAgent =
  (did: string | Words, what: Words): DescribeEntry =>
  (body, { agent }) => ({ who: agent, did: typeof did === "string" ? did : did(body), what: what(body) });
const said =
  (who: string, did: string, what: Words): DescribeEntry =>
  (body) => ({ who, did, what: what(body) });

const operation: Words = ({ op }) => nameInOperation(op);
const failedOperation: Words = ({ op, error }) => `${nameInOperation(op)}: ${text(error)}`;

const namesAgent: DescribeEntry = ({ agent }, told) => {
  told.agent = text(agent);
  return undefined;
};

/** Remembers the outputs that people were shown: an edit is told by what it changed. */
const shows =
  (tell: DescribeEntry): DescribeEntry =>
  (body, told) => {
    told.asked.set(text(body["op"]), body["outputs"] ?? null);
    return tell(body, told);
  };

const DESCRIPTIONS: { readonly [type: string]: DescribeEntry } = {
  "workflow.created": namesAgent,
  "workflow.requested": ({ by }) => ({ who: text(by), did: "asked for it", what: "by its name" }),
  "workflow.defined": namesAgent,
  "call.settled": byAgent(operation, ({ answer }) => answerText(answer)),
  "step.completed": byAgent("step", operation),
  "step.failed": byAgent("step failed", failedOperation),
  "operation.refused": byAgent("asked wrongly", failedOperation),
  "step.retried": byAgent("will retry", failedOperation),
  "log.written": byAgent("log", (body) => text(body["text"])),
  "sleep.began": byAgent("sleeps", ({ until }) => `until ${formatMoment(Number(until))}`),
  "child.spawned": byAgent("started", ({ name }) => text(name)),
  "child.ended": byAgent(({ status }) => text(status), operation),
  "question.asked": byAgent("asked", (body) => text(body["text"])),
  "question.answered": ({ by, status, answer, reason }) => ({
    who: listed(by) || "nobody",
    did: text(status),
    what: status === "answered" ? JSON.stringify(answer) : quoted(reason),
  }),
  "checkpoint.passed": said("nobody", "was asked", ({ name }) => text(name)),
  "checkpoint.reached": shows(byAgent("asked", ({ name }) => text(name))),
  "checkpoint.raised": shows(said("a monitor", "stopped it", ({ why }) => text(why))),
  "checkpoint.decided": decided,
  "rollback.began": said("holdpoint", "rolls back", ({ to }) =>
    to === null ? "to the start" : `to ${nameInOperation(to)}`,
  ),
  "compensation.made": ({ action, tool }, { undos }) => {
    undos.set(text(action), text(tool));
    return undefined;
  },
  "compensation.settled": undone,
  "rollback.ended": ({ after, generation }) =>
    after === "fail" ? undefined : { who: "holdpoint", did: "begins", what: `attempt ${Number(generation)}` },
  "workflow.completed": byAgent("COMPLETED", () => ""),
  "workflow.failed": ({ by, reason }) => ({ who: text(by), did: "FAILED", what: quoted(reason) }),
};

/** Takes the entries in order, from the first; returns undefined for entries that are not shown to people. */
function createStoryteller(): (entry: WorkflowEntry) => StoryLine | undefined {
  const told: StoryState = { agent: "", undos: new Map(), asked: new Map() };
  return ({ type, body }) => {
    const line = DESCRIPTIONS[type]?.(body, told);
    if (line === undefined) return undefined;
    return { who: visible(line.who), did: visible(line.did), what: visible(line.what) };
  };
}

export function readStory(entries: readonly WorkflowEntry[]): readonly StoryLine[] {
  const tell = createStoryteller();
  return entries.flatMap((entry) => tell(entry) ?? []);
}

/** If an earlier run performed more operations than this, they are counted, not printed again. */
const MAX_RETOLD = 20;
const DID = 16;
/** The end and each wait have lines of their own. */
const PRINTED_ELSEWHERE = new Set([
  "workflow.completed",
  "workflow.failed",
  "checkpoint.reached",
  "question.asked",
]);

type EntryWait = { readonly kind?: unknown; readonly on?: unknown };

type RunProgress = {
  /** Prints from the first entry on; ends with the workflow or the signal. */
  follow(workflow: string, signal: AbortSignal): Promise<void>;
  notice(notice: Notice): void;
};

/** `where`: flags that a command needs to find the same store. */
export function createRunProgress(terminal: Terminal, hp: () => Holdpoint, where: string): RunProgress {
  const told = new Set<string>();
  const tell = (text: string) => terminal.note(text);

  function wait(approval: string, name: string, isQuestion: boolean): void {
    if (told.has(approval)) return;
    told.add(approval);
    const yes = isQuestion ? `answer ${approval} '…'` : `approve ${approval}`;
    tell(`  ${terminal.paint("yellow", "waits")} for a person: ${visible(name)}`);
    for (const command of [`show ${approval}`, yes, `reject ${approval} --reason "…"`])
      tell(`    npx holdpoint ${command}${where}`);
  }

  async function waits({ type, body }: WorkflowEntry): Promise<void> {
    if (type !== "workflow.suspended") return;
    for (const { kind, on } of body["waits"] as readonly EntryWait[]) {
      if (kind !== "approval" && kind !== "checkpoint" && kind !== "question") continue;
      const approval = await hp().approvals.get(String(on));
      if (approval.status === "pending") wait(approval.id, approval.tool, kind === "question");
    }
  }

  const print = ({ who, did, what }: StoryLine) => {
    const by = who.startsWith("person:") ? `, by ${who}` : "";
    const [first = "", ...rest] = fold(`${what}${by}`, Math.max(30, terminal.columns - DID - 4));
    tell(`  ${pad(did, DID)}  ${first}`.trimEnd());
    for (const line of rest) tell(" ".repeat(DID + 4) + line);
  };

  async function follow(workflow: string, signal: AbortSignal): Promise<void> {
    const { operations, seq } = await hp().workflows.get(workflow);
    const from = operations > MAX_RETOLD ? seq : 0;
    if (from > 0) tell(`  … ${operations} operations were done before`);
    const teller = createStoryteller();
    for await (const entry of hp().workflows.follow(workflow, signal)) {
      const line = teller(entry);
      if (entry.seq < from) continue;
      if (line !== undefined && !PRINTED_ELSEWHERE.has(entry.type)) print(line);
      await waits(entry);
    }
  }

  return {
    follow,
    notice(notice) {
      if (notice.kind === "waiting") wait(notice.approval, notice.tool, false);
      else if (notice.kind !== "no_request_id") tell(`holdpoint: ${noticeText(notice)}`);
    },
  };
}
