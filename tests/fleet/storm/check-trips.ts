/**
 * Compensations, by what each workflow wrote down and by the receiver's log.
 *
 * C1. An effect is undone at most once, and only one that happened. C2. Newest first. C3. A rollback that has ended names
 * everything that was applied in its range: undone, not undone, or irreversible.
 */
import type { JsonObject } from "../../../src/kernel/json.ts";
import type { Received } from "../../crash/effects.ts";
import type { Happened } from "../../crash/workflow/watch.ts";
import { appliedByKey } from "./check-effects.ts";
import type { Checker, Fault, History } from "./history.ts";

const namesOf = (value: unknown): readonly string[] =>
  (value as readonly (string | JsonObject)[]).map((one) =>
    typeof one === "string" ? one : String(one["action"]),
  );

type Stretch = { readonly calls: string[]; readonly undone: string[]; readonly tried: string[] };

function orderFaults({ calls, tried }: Stretch): readonly string[] {
  const places = [...new Set(tried)].map((action) => calls.indexOf(action));
  const wrong = places.some((place, at) => at > 0 && place >= (places[at - 1] ?? 0));
  return wrong || places.includes(-1) ? [`it undid ${tried.join()} of ${calls.join()}`] : [];
}

function undoneTwice({ undone }: Stretch): readonly string[] {
  return undone.length === new Set(undone).size ? [] : [`it undid one of ${undone.join()} twice`];
}

/** C3. */
function leftOut({ calls }: Stretch, body: JsonObject, isApplied: (action: string) => boolean) {
  const named = ["undone", "notUndone", "irreversible"].flatMap((part) => namesOf(body[part]));
  return calls
    .filter((action) => isApplied(action) && !named.includes(action))
    .map((action) => `its rollback says nothing of ${action}`);
}

/** Calls since the last place to go back to; a passed checkpoint is one. */
function historyFaults(
  history: readonly Happened[],
  isApplied: (action: string) => boolean,
): readonly string[] {
  const wrong: string[] = [];
  let now: Stretch = { calls: [], undone: [], tried: [] };
  for (const { type, body } of history) {
    if (type === "call.made") now.calls.push(String(body["action"]));
    if (type === "compensation.made") now.tried.push(String(body["undoes"]));
    if (type === "compensation.settled" && body["status"] === "undone")
      now.undone.push(String(body["undoes"]));
    if (type === "rollback.ended")
      wrong.push(...orderFaults(now), ...undoneTwice(now), ...leftOut(now, body, isApplied));
    const isPassed = type === "checkpoint.decided" && body["decision"] === "approved";
    if (type === "rollback.ended" || isPassed) now = { calls: [], undone: [], tried: [] };
  }
  return wrong;
}

/** An undo names what it takes back by its arguments and its result, which the receiver gives out once. */
function receivedFaults(received: readonly Received[]): readonly Fault[] {
  const undos = received.filter(({ tool, outcome }) => tool.endsWith(".undo") && outcome === "applied");
  const same = Map.groupBy(undos, ({ tool, args }) => `${tool} ${args}`);
  return [...same].flatMap(([name, lines]): readonly Fault[] =>
    lines.length === 1 ? [] : [{ kind: "compensation", what: `${name} was applied ${lines.length} times` }],
  );
}

/** C1: what was undone had happened before. */
function earlyFaults({ received, journal }: History): readonly Fault[] {
  const applied = appliedByKey(received);
  const at = new Map(received.map((line, index) => [line, index]));
  const placeOf = (action: string): number => {
    const [line] = applied.get(action.replace(/^act_/, "eff_")) ?? [];
    return line === undefined ? -1 : (at.get(line) ?? -1);
  };
  return [...journal.histories].flatMap(([id, history]) =>
    history.flatMap(({ type, body }): readonly Fault[] => {
      if (type !== "compensation.settled" || body["status"] !== "undone") return [];
      const [undo, done] = [placeOf(String(body["action"])), placeOf(String(body["undoes"]))];
      if (done !== -1 && done < undo) return [];
      const what = `${id} undid ${String(body["undoes"])}, which had not happened, or did not undo it`;
      return [{ kind: "compensation", what }];
    }),
  );
}

export const checkCompensations: Checker = (history) => {
  const { received, journal } = history;
  const isApplied = (action: string) => journal.actions.get(action)?.phase === "applied";
  const told = [...journal.histories].flatMap(([id, one]) =>
    historyFaults(one, isApplied).map((what): Fault => ({ kind: "compensation", what: `${id}: ${what}` })),
  );
  return [...told, ...receivedFaults(received), ...earlyFaults(history)];
};
