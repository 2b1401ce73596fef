/**
 * Maps each rule to its watcher, and checks whether state stored by another process still fits the rule. A program's
 * own condition that throws, returns a promise or keeps too much does not stop the monitor: an alert reports it until
 * it works again.
 */

import { canonicalJson, frozenJson, sha256 } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";
import {
  clearedSignal,
  createSubjects,
  type Figures,
  type MonitoredEntry,
  type MonitorRule,
  type Signal,
  subjectOfSighting,
  type Watcher,
  type WhenRule,
} from "./monitor-rule.ts";
import { watchProgress, watchSilence } from "./progress.ts";
import { watchErrors, watchRate } from "./rate.ts";
import { watchResources } from "./resources.ts";

const MOST_STATE = 16_384;
const MOST_FIGURES = 4_096;
const BROKEN = "rule";

type ConditionState = { readonly holds: boolean; readonly state: Json };
type ReadAnswer = { readonly holds: boolean | undefined; readonly figures: Figures; readonly state: Json };

function figuresOf(given: unknown): Figures {
  if (given === undefined) return {};
  const figures = frozenJson(given);
  const isRight = (value: Json) => typeof value === "number" || typeof value === "string";
  if (!isJsonObject(figures) || !Object.values(figures).every(isRight))
    throw new TypeError("its figures are not an object of numbers and texts");
  if (canonicalJson(figures).length <= MOST_FIGURES) return figures as Figures;
  throw new TypeError(`its figures have more than ${MOST_FIGURES} characters`);
}

function stateOf(given: unknown, before: Json): Json {
  if (given === undefined) return before;
  const state = frozenJson(given);
  if (canonicalJson(state).length <= MOST_STATE) return state;
  throw new TypeError(`its state has more than ${MOST_STATE} characters`);
}

function readConditionAnswer(answer: unknown, before: Json): ReadAnswer {
  if (answer === undefined || typeof answer === "boolean")
    return { holds: answer, figures: {}, state: before };
  if (typeof answer !== "object" || answer === null || "then" in answer)
    throw new TypeError("it answers neither true, false, nothing nor { holds, figures, state }");
  const { holds, figures, state } = answer as { holds?: unknown; figures?: unknown; state?: unknown };
  if (holds !== undefined && typeof holds !== "boolean")
    throw new TypeError('its "holds" is not true or false');
  return { holds, figures: figuresOf(figures), state: stateOf(state, before) };
}

function watchWhen({ name, condition, per = "workflow" }: WhenRule, saved: Json): Watcher {
  const kept = isJsonObject(saved) ? saved : {};
  const subjects = createSubjects<ConditionState>(kept["subjects"] ?? null);
  let isBroken = kept["isBroken"] === true;

  function broken(error: unknown, { workflow }: MonitoredEntry): readonly Signal[] {
    if (isBroken) return [];
    isBroken = true;
    const figures = { error: errorText(error).slice(0, 500).toWellFormed() };
    const says = `its condition cannot be judged: ${figures.error}`;
    return [{ subject: BROKEN, holds: true, workflow: workflow?.id ?? null, figures, says, proof: null }];
  }

  function mended(): readonly Signal[] {
    if (!isBroken) return [];
    isBroken = false;
    return [clearedSignal(BROKEN, null)];
  }

  function judge(subject: string, sighting: MonitoredEntry): readonly Signal[] {
    const before = subjects.get(subject) ?? { holds: false, state: null };
    const {
      holds = before.holds,
      figures,
      state,
    } = readConditionAnswer(condition(sighting, before.state), before.state);
    if (holds || state !== null) subjects.put(subject, { holds, state });
    else subjects.drop(subject);
    if (holds === before.holds) return mended();
    const workflow = sighting.workflow?.id ?? null;
    const says = `"${name}" holds`;
    const now = holds
      ? { subject, holds, workflow, figures, says, proof: null }
      : clearedSignal(subject, workflow);
    return [...mended(), now];
  }

  return {
    see(sighting) {
      const subject = subjectOfSighting(per, sighting) ?? (per === "workflow" ? "all" : null);
      if (subject === null) return [];
      try {
        return judge(subject, sighting);
      } catch (error) {
        return broken(error, sighting);
      }
    },
    tick: () => [],
    due: () => null,
    save: () => ({ subjects: subjects.save(), isBroken }),
  };
}

function createWatcher(rule: MonitorRule, saved: Json): Watcher {
  switch (rule.kind) {
    case "rate":
      return watchRate(rule, saved);
    case "errors":
      return watchErrors(rule, saved);
    case "silence":
      return watchSilence(rule, saved);
    case "progress":
      return watchProgress(rule, saved);
    case "resources":
      return watchResources(rule, saved);
    case "when":
      return watchWhen(rule, saved);
  }
}

/** Covers what the rule counts, not how it reacts. Of a condition it covers only the rule's name. */
function digestOfRule({ severity: _, raise: __, ...rule }: MonitorRule): string {
  const entries = Object.entries(rule).flatMap(([field, value]) => {
    if (typeof value === "function") return [];
    const money = field === "cost" && isMoney(value) ? { ...value, micros: String(value.micros) } : value;
    return [[field, money] as const];
  });
  return sha256(canonicalJson(Object.fromEntries(entries)));
}

const isMoney = (value: unknown): value is { readonly micros: bigint } =>
  typeof (value as { micros?: unknown } | null)?.micros === "bigint";

export type WatchedRule = { readonly rule: MonitorRule; readonly watcher: Watcher };

/** A rule that changed since its state was stored starts from scratch. */
export function watchRules(rules: readonly MonitorRule[], kept: Json): readonly WatchedRule[] {
  return rules.map((rule) => {
    const known = isJsonObject(kept) ? kept[rule.name] : undefined;
    const isSame = isJsonObject(known) && known["digest"] === digestOfRule(rule);
    return { rule, watcher: createWatcher(rule, isSame ? (known["state"] ?? null) : null) };
  });
}

export function saveRuleStates(watched: readonly WatchedRule[]): Json {
  return Object.fromEntries(
    watched.map(({ rule, watcher }) => [rule.name, { digest: digestOfRule(rule), state: watcher.save() }]),
  );
}
