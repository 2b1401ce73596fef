/** What an approval's entries mean to a replay: what people said of an action. Checkpoints and questions are no actions. */
import { QUESTION_ENDS, questionEnds } from "../../approvals/state.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json.ts";
import { termsAsked } from "./asks.ts";
import type { Deck, Heard, PersonDecision, Question } from "./heard.ts";
import { bodyIn, type TapeEntry } from "./tape.ts";

/** By type of event. */
const DECISIONS: { readonly [type: string]: PersonDecision } = Object.fromEntries(
  questionEnds.map((end) => {
    const { countsAs } = QUESTION_ENDS[end];
    return [`approval.${end}`, countsAs === "modified" ? "edited" : countsAs];
  }),
);

function listed(by: unknown): readonly string[] {
  if (Array.isArray(by)) return by.map(String);
  return typeof by === "string" ? [by] : [];
}

function isOfSeveral({ approvers, stages }: JsonObject): boolean {
  return stages !== undefined || (isJsonObject(approvers) && approvers["quorum"] !== 1);
}

function ask(deck: Deck, entry: TapeEntry): Heard | undefined {
  const body = bodyIn(entry);
  if (body === null) return { kind: "lost", at: entry.at, what: "decision" };
  const one = deck.open.get(String(body["action"]));
  if (one === undefined || body["subject"] !== undefined) return undefined;
  const { action } = one;
  const argsDigest = String(body["argsDigest"]);
  // Asked anew about what a person made of it: another rule wants to see that.
  const isEdit = one.edited === argsDigest && (one.asked !== argsDigest || one.isEdit);
  one.asked = argsDigest;
  one.isEdit = isEdit;
  deck.questions.set(entry.id, { action, editedDigest: isEdit ? argsDigest : null });
  const about = { args: body["args"] ?? null, argsDigest, rule: String(body["rule"]) };
  const terms = termsAsked(body, entry.at);
  return { kind: "asked", action, ...about, terms, ofSeveral: isOfSeveral(body) };
}

function decide(entry: TapeEntry, question: Question, decision: PersonDecision): Heard {
  const body = bodyIn(entry);
  const reason = String(body?.["reason"] ?? "");
  const said = { decision, by: listed(body?.["by"]), reason, now: entry.at };
  return { kind: "decided", ...question, approval: entry.id, ...said };
}

function takeBack(entry: TapeEntry): Heard {
  const body = bodyIn(entry);
  const reason = String(body?.["reason"] ?? "");
  return { kind: "revoked", approval: entry.id, by: listed(body?.["by"]), reason };
}

export function takeApproval(deck: Deck, entry: TapeEntry): Heard | undefined {
  if (entry.type === "approval.requested") return ask(deck, entry);
  if (entry.type === "approval.revoked") return takeBack(entry);
  const question = deck.questions.get(entry.id);
  if (question === undefined) return undefined;
  const decision = DECISIONS[entry.type];
  if (decision !== undefined) {
    deck.questions.delete(entry.id);
    return decide(entry, question, decision);
  }
  if (entry.type !== "approval.edited" && entry.type !== "approval.revised") return undefined;
  const body = bodyIn(entry);
  if (body === null) return { kind: "lost", at: entry.at, what: "decision" };
  if (entry.type === "approval.revised") {
    question.editedDigest = String(body["argsDigest"]);
    return undefined;
  }
  const { action } = question;
  const one = deck.open.get(action.id);
  if (one !== undefined) one.edited = String(body["argsDigest"]);
  return { kind: "edited", action, args: body["args"] ?? null, by: String(body["by"]), now: entry.at };
}
