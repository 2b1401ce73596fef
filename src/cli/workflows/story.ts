/**
 * A workflow's journal as a story: who did what, with which receipt, and what was undone; and the progress that
 * `holdpoint run` prints: each operation as it settles, and whom it waits for.
 */

import type { Holdpoint } from "../../index.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import { type Notice, noticeText } from "../../runtime/notices.ts";
import type { WorkflowEntry } from "../../workflows/rules/operations.ts";
import { fold, formatMoment, pad, type Terminal } from "../shell/terminal.ts";

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

const DESCRIPTIONS: { readonly [type: string]: DescribeEntry } = {
  "workflow.created": (body, told) => {
    told.agent = text(body["agent"]);
    return undefined;
  },
  "workflow.requested": (body) => ({ who: text(body["by"]), did: "asked for it", what: "by its name" }),
  "workflow.defined": (body, told) => {
    told.agent = text(body["agent"]);
    return undefined;
  },
  "call.settled": (body, { agent }) => ({
    who: agent,
    did: nameInOperation(body["op"]),
    what: answerText(body["answer"]),
  }),
  "step.completed": (body, { agent }) => ({ who: agent, did: "step", what: nameInOperation(body["op"]) }),
  "step.failed": (body, { agent }) => ({
    who: agent,
    did: "step failed",
    what: `${nameInOperation(body["op"])}: ${text(body["error"])}`,
  }),
  "operation.refused": (body, { agent }) => ({
    who: agent,
    did: "asked wrongly",
    what: `${nameInOperation(body["op"])}: ${text(body["error"])}`,
  }),
  "step.retried": (body, { agent }) => ({
    who: agent,
    did: "will retry",
    what: `${nameInOperation(body["op"])}: ${text(body["error"])}`,
  }),
  "log.written": (body, { agent }) => ({ who: agent, did: "log", what: text(body["text"]) }),
  "sleep.began": (body, { agent }) => ({
    who: agent,
    did: "sleeps",
    what: `until ${formatMoment(Number(body["until"]))}`,
  }),
  "child.spawned": (body, { agent }) => ({ who: agent, did: "started", what: text(body["name"]) }),
  "child.ended": (body, { agent }) => ({
    who: agent,
    did: text(body["status"]),
    what: nameInOperation(body["op"]),
  }),
  "question.asked": (body, { agent }) => ({ who: agent, did: "asked", what: text(body["text"]) }),
  "question.answered": (body) => ({
    who: listed(body["by"]) || "nobody",
    did: text(body["status"]),
    what: body["status"] === "answered" ? JSON.stringify(body["answer"]) : quoted(body["reason"]),
  }),
  "checkpoint.passed": (body) => ({ who: "nobody", did: "was asked", what: text(body["name"]) }),
  "checkpoint.reached": (body, { agent, asked }) => {
    asked.set(text(body["op"]), body["outputs"] ?? null);
    return { who: agent, did: "asked", what: text(body["name"]) };
  },
  "checkpoint.raised": (body, { asked }) => {
    asked.set(text(body["op"]), body["outputs"] ?? null);
    return { who: "a monitor", did: "stopped it", what: text(body["why"]) };
  },
  "checkpoint.decided": decided,
  "rollback.began": (body) => ({
    who: "holdpoint",
    did: "rolls back",
    what: body["to"] === null ? "to the start" : `to ${nameInOperation(body["to"])}`,
  }),
  "compensation.made": (body, { undos }) => {
    undos.set(text(body["action"]), text(body["tool"]));
    return undefined;
  },
  "compensation.settled": undone,
  "rollback.ended": (body) =>
    body["after"] === "fail"
      ? undefined
      : { who: "holdpoint", did: "begins", what: `attempt ${Number(body["generation"])}` },
  "workflow.completed": (_body, { agent }) => ({ who: agent, did: "COMPLETED", what: "" }),
  "workflow.failed": (body) => ({ who: text(body["by"]), did: "FAILED", what: quoted(body["reason"]) }),
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
