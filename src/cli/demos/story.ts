/** A workflow's journal as a story: who did what, with which receipt, and what was taken back. */
import { isJsonObject, type Json } from "../../core/json.ts";
import { visible } from "../../core/visible.ts";
import type { Entry } from "../../engine/workflow/recorded.ts";

export type Line = { readonly who: string; readonly did: string; readonly what: string };
type Told = { readonly agent: string; readonly tools: Map<string, string>; outputs: Json };

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const listed = (value: Json | undefined): string =>
  Array.isArray(value) ? value.map(String).join(", ") : "";
const short = (id: string): string => `${id.slice(0, 4)}…${id.slice(-6)}`;

/** `demo/1//room.book#1` → `room.book`. */
const nameOf = (op: Json | undefined): string => /([^/]*)#\d+$/.exec(text(op))?.[1] ?? text(op);

function receiptText(answer: Json | undefined): string {
  if (!isJsonObject(answer)) return "";
  const { receipt } = answer;
  if (answer["executed"] !== true) return `not done: ${text(answer["reason"])}`;
  if (!isJsonObject(receipt)) return "done";
  return `done, receipt ${short(text(receipt["effect"]))}`;
}

/** What an edit changed: `pizzas 100 → 10`. */
export function changes(before: Json, after: Json): string {
  if (!isJsonObject(before) || !isJsonObject(after)) return "";
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`)
    .join(", ");
}

function decided({ body }: Entry, told: Told): Line {
  const decision = text(body["decision"]);
  const reason = text(body["reason"]);
  const changed = decision === "modified" ? changes(told.outputs, body["outputs"] ?? null) : "";
  const quoted = reason === "" ? "" : `"${reason}"`;
  return {
    who: listed(body["by"]),
    did: decision,
    what: [changed, quoted].filter((part) => part !== "").join(" ") || nameOf(body["op"]),
  };
}

function failed({ body }: Entry): Line {
  return { who: text(body["by"]), did: "FAILED", what: `"${text(body["reason"])}"` };
}

function lineOf(entry: Entry, told: Told): Line | undefined {
  const { body } = entry;
  const { agent } = told;
  switch (entry.type) {
    case "call.settled":
      return { who: agent, did: nameOf(body["op"]), what: receiptText(body["answer"]) };
    case "step.completed":
      return { who: agent, did: "step", what: nameOf(body["op"]) };
    case "checkpoint.passed":
      return { who: "nobody", did: "was asked", what: text(body["name"]) };
    case "checkpoint.reached":
      told.outputs = body["outputs"] ?? null;
      return { who: agent, did: "asked", what: text(body["name"]) };
    case "checkpoint.decided":
      return decided(entry, told);
    case "rollback.began":
      return {
        who: "holdpoint",
        did: "rolls back",
        what: body["to"] === null ? "to the start" : nameOf(body["to"]),
      };
    case "compensation.made":
      told.tools.set(text(body["action"]), text(body["tool"]));
      return undefined;
    case "compensation.settled": {
      const what = body["status"] === "undone" ? "done" : `not done: ${text(body["reason"])}`;
      const receipt = `${what}, receipt ${short(text(body["action"]).replace("act_", "eff_"))}`;
      return { who: agent, did: told.tools.get(text(body["action"])) ?? "undo", what: receipt };
    }
    case "rollback.ended":
      return { who: "holdpoint", did: "begins", what: `attempt ${Number(body["generation"])}` };
    case "workflow.completed":
      return { who: agent, did: "COMPLETED", what: "" };
    case "workflow.failed":
      return failed(entry);
    default:
      return undefined;
  }
}

export function storyOf(entries: readonly Entry[]): readonly Line[] {
  const agent = text(entries[0]?.body["agent"]);
  const told: Told = { agent, tools: new Map(), outputs: null };
  return entries.flatMap((entry) => {
    const line = lineOf(entry, told);
    return line === undefined
      ? []
      : [{ who: visible(line.who), did: visible(line.did), what: visible(line.what) }];
  });
}
