/**
 * The one table of which journal entries are announced to endpoints, and with what content.
 * - Content comes from entries that never change: the stream's first, the announced one, and the last revision up to
 *   it. So every attempt sends the same.
 * - Arguments are those in effect at the time of the event, never those from before an edit.
 */

import { actionTitle } from "../../approvals/rules/title.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { StreamRef } from "../../kernel/stream.ts";
import { visible } from "../../kernel/text.ts";

const MOST = 80;

export function cutTitle(words: string, name: string): string {
  const text = visible(name);
  const left = text.length - MOST;
  return left > 0 ? `${words}: ${text.slice(0, MOST).toWellFormed()}… (${left} more)` : `${words}: ${text}`;
}

type AnnouncedBodies = {
  readonly first: JsonObject;
  readonly body: JsonObject;
  /** The last `approval.revised` or `action.revised` up to this entry, if any. */
  readonly revised?: JsonObject;
};
type AnnouncedFacts = { readonly [field: string]: Json | undefined };
type Announcement = {
  /** For people: the beginning of a mail's subject. */
  readonly words: string;
  readonly data: (bodies: AnnouncedBodies, id: string) => AnnouncedFacts;
};

const time = (at: Json | undefined): string | null =>
  typeof at === "number" ? new Date(at).toISOString() : null;

const argumentsOf = ({ first, revised = first }: AnnouncedBodies): AnnouncedFacts => ({
  arguments: revised["args"],
  arguments_digest: revised["argsDigest"],
});

/** Of an action, or of an approval of one, with the arguments in effect; undefined for anything else. */
function titleInEntries({ kind }: Pick<StreamRef, "kind">, bodies: AnnouncedBodies): string | undefined {
  const { first, revised = first } = bodies;
  if ((kind !== "action" && kind !== "approval") || first["subject"] !== undefined) return undefined;
  const { tool, titleTemplate: template } = first;
  return actionTitle(
    String(tool),
    typeof template === "string" ? template : undefined,
    revised["args"] ?? null,
  );
}

/** How the agent would undo it. */
const undoOf = ({ undo }: JsonObject): Json | undefined =>
  isJsonObject(undo) ? { tool: undo["tool"] ?? null, arguments: undo["args"] ?? null } : undefined;

function questionOf(bodies: AnnouncedBodies, id: string): AnnouncedFacts {
  const { first } = bodies;
  const { subject } = first;
  return {
    approval: id,
    about: isJsonObject(subject) ? subject["kind"] : "action",
    action: first["action"],
    title: titleInEntries({ kind: "approval" }, bodies),
    tool: first["tool"],
    effect_class: first["effectClass"],
    ...argumentsOf(bodies),
    undo: undoOf(first),
    agent: first["agent"],
    requester: first["requester"],
    rationale: first["says"],
    rule: first["rule"],
    reason: first["reason"],
  };
}

const asked = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => ({
  ...questionOf(bodies, id),
  approvers: bodies.first["approvers"],
  stages: bodies.first["stages"],
  decide_by: time(bodies.first["decideBy"]),
  execute_by: time(bodies.first["executeBy"]),
  binding: bodies.first["binding"],
});

const moved = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => ({
  ...questionOf(bodies, id),
  stage: bodies.body["stage"],
  decide_by: time(bodies.body["decideBy"]),
});

const reminded = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => ({
  ...moved(bodies, id),
  why: bodies.body["why"],
  also: bodies.body["also"],
});

/** Who changed it, and the binding that people decide on from then on. Includes deadlines if they changed. */
const changed = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => {
  const { again } = bodies.body;
  const times = isJsonObject(again)
    ? { decide_by: time(again["decideBy"]), execute_by: time(again["executeBy"]) }
    : {};
  const { by, binding } = bodies.body;
  return { ...questionOf(bodies, id), ...times, by, binding };
};

const handed = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => ({
  ...questionOf(bodies, id),
  by: bodies.body["by"],
  to: bodies.body["to"],
  decision_reason: bodies.body["reason"],
});

/** The author may be the agent: the text is untrusted. */
const commented = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => ({
  ...questionOf(bodies, id),
  by: bodies.body["by"],
  comment: bodies.body["text"],
});

const decided = (bodies: AnnouncedBodies, id: string): AnnouncedFacts => ({
  ...questionOf(bodies, id),
  by: bodies.body["by"],
  decision_reason: bodies.body["reason"],
});

const effect = ({ first, body, ...more }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  action: id,
  request_id: first["requestId"],
  title: titleInEntries({ kind: "action" }, { first, body, ...more }),
  tool: first["tool"],
  effect_class: first["effectClass"],
  ...argumentsOf({ first, body, ...more }),
  agent: first["agent"],
  requester: first["requester"],
  status: body["status"],
  by: body["by"],
  reason: body["reason"],
});

const alert = ({ first }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  alert: id,
  monitor: first["monitor"],
  rule: first["rule"],
  severity: first["severity"],
  subject: first["subject"],
  workflow: first["workflow"],
  figures: first["figures"],
  says: first["says"],
  approval: first["approval"],
});

const workflow = ({ first, body }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  workflow: id,
  name: first["name"],
  agent: first["agent"],
  requester: first["requester"],
  code: body["code"],
  by: body["by"],
  reason: body["reason"],
  result: body["result"],
});

const killSwitch = ({ body }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  scope: id,
  by: body["by"],
  reason: body["reason"],
});

const intent = ({ first, body }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  intent: id,
  intent_type: first["intentType"],
  to: first["to"],
  from: first["from"],
  payload: first["payload"],
  request_id: first["requestId"],
  correlation: first["correlation"],
  parent: first["parent"],
  approval: first["approval"],
  deadline: time(first["deadline"]),
  by: body["by"],
  data: body["data"],
  reason: body["reason"],
});

const budget = ({ body }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  budget: id,
  effect: body["effect"],
  amount: { currency: body["currency"] ?? null, micros: body["micros"] ?? null },
  reason: body["reason"],
});

const test = ({ first }: AnnouncedBodies, id: string): AnnouncedFacts => ({
  endpoint: id,
  name: first["name"],
});

const say = (words: string, data: Announcement["data"]): Announcement => ({ words, data });

/** By type: a message has the type of its entry. */
export const ANNOUNCED_EVENTS: ReadonlyMap<string, Announcement> = new Map([
  ["approval.requested", say("Approval needed", asked)],
  ["approval.revised", say("Approval needed, changed", changed)],
  ["approval.stage_met", say("Approval needed, next stage", moved)],
  ["approval.escalated", say("Approval needed, time was up before", moved)],
  ["approval.extended", say("More time to decide", moved)],
  ["approval.reminded", say("Reminder, still to be decided", reminded)],
  ["approval.widened", say("Approval needed, more people may decide", reminded)],
  ["approval.delegated", say("Approval needed, handed over", handed)],
  ["approval.commented", say("Comment, before it is decided", commented)],
  ["approval.approved", say("Approved", decided)],
  ["approval.modified", say("Approved with changes", decided)],
  ["approval.rejected", say("Rejected", decided)],
  ["approval.expired", say("Expired", decided)],
  ["approval.cancelled", say("Withdrawn", decided)],
  ["approval.superseded", say("Superseded, another approval asks instead", decided)],
  ["approval.revoked", say("Approval revoked", decided)],
  ["effect.in_doubt", say("In doubt", effect)],
  ["effect.resolved", say("No longer in doubt", effect)],
  ["alert.raised", say("Alert", alert)],
  ["alert.cleared", say("Alert cleared", alert)],
  ["workflow.completed", say("Workflow completed", workflow)],
  ["workflow.failed", say("Workflow failed", workflow)],
  ["intent.sent", say("Asked of an agent", intent)],
  ["intent.completed", say("Intent completed", intent)],
  ["intent.failed", say("Intent failed", intent)],
  ["intent.timed_out", say("Intent timed out", intent)],
  ["intent.cancelled", say("Intent withdrawn", intent)],
  ["switch.stopped", say("Stopped by the kill switch", killSwitch)],
  ["switch.released", say("Released by the kill switch", killSwitch)],
  ["budget.refused", say("Over budget", budget)],
  ["endpoint.tested", say("Test message", test)],
]);

/** Name of the tool, workflow, rule or scope. */
function subjectName({ kind, id }: StreamRef, first: JsonObject): string {
  if (kind === "alert") return `${String(first["rule"])}: ${String(first["subject"])}`;
  if (kind === "intent") return String(first["intentType"]);
  const name = kind === "action" || kind === "approval" ? first["tool"] : first["name"];
  return typeof name === "string" ? name : id;
}

export type AnnouncementText = { readonly title: string; readonly data: JsonObject };

/** undefined if such an entry is not announced. */
export function announcementOf(
  type: string,
  ref: StreamRef,
  bodies: AnnouncedBodies,
): AnnouncementText | undefined {
  const saying = ANNOUNCED_EVENTS.get(type);
  if (saying === undefined) return undefined;
  const { first } = bodies;
  const title = titleInEntries(ref, bodies);
  const facts = Object.entries(saying.data(bodies, ref.id)).filter(([, value]) => value !== undefined);
  return {
    title:
      title === undefined ? cutTitle(saying.words, subjectName(ref, first)) : `${saying.words}: ${title}`,
    data: Object.fromEntries(facts) as JsonObject,
  };
}

/** Whether the pattern matches an announced type: a type, or a prefix that ends in `*`. */
export function isAnnouncedPattern(event: string): boolean {
  if (!event.endsWith("*")) return ANNOUNCED_EVENTS.has(event);
  return [...ANNOUNCED_EVENTS.keys()].some((type) => type.startsWith(event.slice(0, -1)));
}
