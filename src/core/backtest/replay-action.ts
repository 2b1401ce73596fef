/** What an action's entries mean to a replay. */

import type { JsonObject } from "../../kernel/json.ts";
import type { ReservedCost, ReviewFacts } from "../action/events.ts";
import { isOwnCall, type Within } from "../action/within.ts";
import type { PastCall } from "../verdict.ts";
import type { Deck, Heard, OpenAction, RecordedAction } from "./heard.ts";
import { addCall, changeCall, damage } from "./past.ts";
import { bodyIn, type TapeEntry } from "./tape.ts";

function recorded(entry: TapeEntry, body: JsonObject): RecordedAction {
  const facts = body as unknown as RecordedAction & { readonly within?: Within };
  const { tool, effectClass, schema, agent, requester, requestId, args, argsDigest } = facts;
  const said = { tool, effectClass, schema, agent, requester, requestId, args, argsDigest };
  return { id: entry.id, ...said, within: facts.within ?? null, at: entry.at };
}

function callOf({ id, tool, args, at, within }: RecordedAction): PastCall {
  const generation = Number(within?.op.split("/")[1] ?? 1);
  return { action: id, tool, args, status: "waiting", result: null, generation, undone: false, at };
}

function propose(deck: Deck, entry: TapeEntry): Heard {
  const body = bodyIn(entry);
  if (body === null) return { kind: "lost", at: entry.at, what: "proposal" };
  const action = recorded(entry, body);
  const none = { revised: null, reviewed: false, asked: null, edited: null, isEdit: false };
  deck.open.set(entry.id, { action, ...none });
  if (action.within !== null && isOwnCall(action.within)) {
    deck.calls.set(entry.id, action.within.workflow);
    addCall(deck.flows, action.within.workflow, callOf(action));
  }
  return { kind: "proposed", at: entry.at };
}

/** Where a status cannot be read any more, it may have happened. */
const CHANGES: { readonly [type: string]: (body: JsonObject) => Partial<PastCall> } = {
  "action.revised": (body) => ({ args: body["args"] ?? null }),
  "action.refused": () => ({ status: "refused" }),
  "effect.started": () => ({ status: "running" }),
  "effect.applied": (body) => ({ status: "applied", result: body["result"] ?? null }),
  "effect.not_applied": () => ({ status: "not_applied" }),
  "effect.in_doubt": () => ({ status: "in_doubt" }),
  "effect.resolved": (body) =>
    body["status"] === "applied"
      ? { status: "applied", result: body["result"] ?? null }
      : { status: "not_applied" },
};
const AT_REST: readonly unknown[] = ["applied", "not_applied", "refused"];

/** What becomes of a call matters to the calls after it. */
function follow(deck: Deck, entry: TapeEntry): void {
  const workflow = deck.calls.get(entry.id);
  const change = CHANGES[entry.type];
  if (workflow === undefined || change === undefined) return;
  const body = bodyIn(entry);
  if (body === null) damage(deck.flows, workflow);
  else {
    const made = change(body);
    changeCall(deck.flows, workflow, entry.id, made);
    if (AT_REST.includes(made.status)) deck.calls.delete(entry.id);
  }
}

function review(entry: TapeEntry, one: OpenAction): Heard | undefined {
  if (one.reviewed) return undefined;
  one.reviewed = true;
  const body = bodyIn(entry);
  if (body === null) return { kind: "lost", at: one.action.at, what: "review" };
  const facts = body as unknown as ReviewFacts;
  const argsDigest = one.revised ?? one.action.argsDigest;
  const said = { ...facts, argsDigest, revised: one.revised !== null };
  return { kind: "reviewed", action: one.action, review: said, now: entry.at };
}

export function takeAction(deck: Deck, entry: TapeEntry): Heard | undefined {
  if (entry.type === "action.proposed") return propose(deck, entry);
  follow(deck, entry);
  const one = deck.open.get(entry.id);
  if (one === undefined) return undefined;
  switch (entry.type) {
    case "action.revised":
      if (!one.reviewed) one.revised = String(bodyIn(entry)?.["argsDigest"] ?? "");
      return undefined;
    case "action.reviewed":
      return review(entry, one);
    case "effect.started": {
      deck.open.delete(entry.id);
      const costs = (bodyIn(entry)?.["costs"] ?? []) as unknown as readonly ReservedCost[];
      return { kind: "started", action: one.action, costs };
    }
    case "action.refused":
      deck.open.delete(entry.id);
      return undefined;
    default:
      return undefined;
  }
}
