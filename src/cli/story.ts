/** A workflow's journal as a story: who did what, with which receipt, and what was taken back. */

import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { visible } from "../kernel/text.ts";
import type { WorkflowEntry } from "../workflows/rules/operations.ts";
import { moment } from "./times.ts";

export type Line = { readonly who: string; readonly did: string; readonly what: string };
type Told = { agent: string; readonly undos: Map<string, string>; readonly asked: Map<string, Json> };
type Teller = (body: JsonObject, told: Told) => Line | undefined;

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const listed = (value: Json | undefined): string =>
  Array.isArray(value) ? value.map(String).join(", ") : "";
const quoted = (value: Json | undefined): string => (text(value) === "" ? "" : `"${text(value)}"`);
const short = (id: string): string => `${id.slice(0, 4)}…${id.slice(-6)}`;

/** The name in an operation's id: `room.book` of `wf_…/1//room.book#1`. */
export const nameOf = (op: Json | undefined): string => /([^/]*)#\d+$/.exec(text(op))?.[1] ?? text(op);

function answerText(answer: Json | undefined): string {
  if (!isJsonObject(answer)) return "";
  const { receipt } = answer;
  if (answer["executed"] === "in_doubt") return `in doubt: ${text(answer["reason"])}`;
  if (answer["executed"] !== true) return `not done: ${text(answer["reason"])}`;
  return isJsonObject(receipt) ? `done, receipt ${short(text(receipt["effect"]))}` : "done";
}

/** What an edit changed: `pizzas 100 → 10`. */
export function changes(before: Json | undefined, after: Json | undefined): string {
  if (!isJsonObject(before) || !isJsonObject(after)) return "";
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`)
    .join(", ");
}

function decided(body: JsonObject, { asked }: Told): Line {
  const did = text(body["decision"]);
  const changed = did === "modified" ? changes(asked.get(text(body["op"])), body["outputs"]) : "";
  const what = [changed, quoted(body["reason"])].filter((part) => part !== "").join(" ");
  return { who: listed(body["by"]) || "nobody", did, what: what || nameOf(body["op"]) };
}

function undone(body: JsonObject, { agent, undos }: Told): Line {
  const action = text(body["action"]);
  const receipt = `done, receipt ${short(action.replace(/^act_/, "eff_"))}`;
  const what = body["status"] === "undone" ? receipt : `not done: ${text(body["reason"])}`;
  return { who: agent, did: undos.get(action) ?? "undo", what };
}

const TELLERS: { readonly [type: string]: Teller } = {
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
    did: nameOf(body["op"]),
    what: answerText(body["answer"]),
  }),
  "step.completed": (body, { agent }) => ({ who: agent, did: "step", what: nameOf(body["op"]) }),
  "step.failed": (body, { agent }) => ({
    who: agent,
    did: "step failed",
    what: `${nameOf(body["op"])}: ${text(body["error"])}`,
  }),
  "operation.refused": (body, { agent }) => ({
    who: agent,
    did: "asked wrongly",
    what: `${nameOf(body["op"])}: ${text(body["error"])}`,
  }),
  "step.retried": (body, { agent }) => ({
    who: agent,
    did: "will retry",
    what: `${nameOf(body["op"])}: ${text(body["error"])}`,
  }),
  "log.written": (body, { agent }) => ({ who: agent, did: "log", what: text(body["text"]) }),
  "sleep.began": (body, { agent }) => ({
    who: agent,
    did: "sleeps",
    what: `until ${moment(Number(body["until"]))}`,
  }),
  "child.spawned": (body, { agent }) => ({ who: agent, did: "started", what: text(body["name"]) }),
  "child.ended": (body, { agent }) => ({ who: agent, did: text(body["status"]), what: nameOf(body["op"]) }),
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
    what: body["to"] === null ? "to the start" : `to ${nameOf(body["to"])}`,
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

/** To be given the entries one after the other, from the first; answers nothing for those that tell people nothing. */
export function createTeller(): (entry: WorkflowEntry) => Line | undefined {
  const told: Told = { agent: "", undos: new Map(), asked: new Map() };
  return ({ type, body }) => {
    const line = TELLERS[type]?.(body, told);
    if (line === undefined) return undefined;
    return { who: visible(line.who), did: visible(line.did), what: visible(line.what) };
  };
}

export function storyOf(entries: readonly WorkflowEntry[]): readonly Line[] {
  const tell = createTeller();
  return entries.flatMap((entry) => tell(entry) ?? []);
}
