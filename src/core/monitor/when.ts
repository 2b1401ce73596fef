/**
 * A condition of the program's own, with a small state by subject. One that throws, answers a promise or keeps too much does
 * not stop the monitor: an alert says so until it answers again.
 */
import { canonicalJson, frozenJson } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";

import {
  type Figures,
  over,
  type Sighting,
  type Signal,
  subjectOf,
  type Watcher,
  type WhenRule,
} from "./rules.ts";
import { createSubjects } from "./subjects.ts";

const MOST_STATE = 16_384;
const MOST_FIGURES = 4_096;
const BROKEN = "rule";

type State = { readonly holds: boolean; readonly state: Json };
type Said = { readonly holds: boolean | undefined; readonly figures: Figures; readonly state: Json };

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

function read(answer: unknown, before: Json): Said {
  if (answer === undefined || typeof answer === "boolean")
    return { holds: answer, figures: {}, state: before };
  if (typeof answer !== "object" || answer === null || "then" in answer)
    throw new TypeError("it answers neither true, false, nothing nor { holds, figures, state }");
  const { holds, figures, state } = answer as { holds?: unknown; figures?: unknown; state?: unknown };
  if (holds !== undefined && typeof holds !== "boolean")
    throw new TypeError('its "holds" is not true or false');
  return { holds, figures: figuresOf(figures), state: stateOf(state, before) };
}

export function watchWhen({ name, condition, per = "workflow" }: WhenRule, saved: Json): Watcher {
  const kept = isJsonObject(saved) ? saved : {};
  const subjects = createSubjects<State>(kept["subjects"] ?? null);
  let isBroken = kept["isBroken"] === true;

  function broken(error: unknown, { workflow }: Sighting): readonly Signal[] {
    if (isBroken) return [];
    isBroken = true;
    const figures = { error: errorText(error).slice(0, 500).toWellFormed() };
    const says = `its condition cannot be judged: ${figures.error}`;
    return [{ subject: BROKEN, holds: true, workflow: workflow?.id ?? null, figures, says, proof: null }];
  }

  function mended(): readonly Signal[] {
    if (!isBroken) return [];
    isBroken = false;
    return [over(BROKEN, null)];
  }

  function judge(subject: string, sighting: Sighting): readonly Signal[] {
    const before = subjects.get(subject) ?? { holds: false, state: null };
    const { holds = before.holds, figures, state } = read(condition(sighting, before.state), before.state);
    if (holds || state !== null) subjects.put(subject, { holds, state });
    else subjects.drop(subject);
    if (holds === before.holds) return mended();
    const workflow = sighting.workflow?.id ?? null;
    const says = `"${name}" holds`;
    const now = holds ? { subject, holds, workflow, figures, says, proof: null } : over(subject, workflow);
    return [...mended(), now];
  }

  return {
    see(sighting) {
      const subject = subjectOf(per, sighting) ?? (per === "workflow" ? "all" : null);
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
