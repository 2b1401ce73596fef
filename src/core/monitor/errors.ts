/** The share of what failed, was refused or is in doubt, of the last outcomes or of those within a window. */
import type { Json } from "../../kernel/json.ts";
import { duration, outcomeOf } from "./moments.ts";
import { earliest } from "./rate.ts";
import {
  type ErrorsRule,
  type Figures,
  OUTCOMES,
  over,
  rounded,
  type Signal,
  subjectOf,
  type Watcher,
} from "./rules.ts";
import { createSubjects, type Kept } from "./subjects.ts";

/** Of one subject, also within a window. */
const MOST_OUTCOMES = 1_000;

type Ended = { readonly at: number; readonly as: string };
type Outcomes = Kept & { readonly ended: readonly Ended[]; readonly workflow: string | null };

/** `failed, refused or in doubt`. */
function spoken(of: readonly string[]): string {
  const words = of.map((one) => one.replace("_", " "));
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

export function watchErrors(rule: ErrorsRule, saved: Json): Watcher {
  const { above, last = MOST_OUTCOMES, windowMs = null, least = 5, of = OUTCOMES, per = "all" } = rule;
  const subjects = createSubjects<Outcomes>(saved);
  const within = (ended: readonly Ended[], now: number) =>
    windowMs === null ? ended : ended.filter(({ at }) => at > now - windowMs);
  const shareOf = (ended: readonly Ended[]) =>
    ended.length === 0 ? 0 : ended.filter(({ as }) => of.some((bad) => bad === as)).length / ended.length;
  const isBad = (ended: readonly Ended[]) => ended.length >= least && shareOf(ended) > above;

  function figuresOf(ended: readonly Ended[]): Figures {
    const counts = OUTCOMES.map((bad) => [bad, ended.filter(({ as }) => as === bad).length] as const);
    return { share: rounded(shareOf(ended)), above, outcomes: ended.length, ...Object.fromEntries(counts) };
  }

  function begins(subject: string, { ended, workflow }: Outcomes): Signal {
    const when = windowMs === null ? "" : ` within ${duration(windowMs)}`;
    const percent = rounded(shareOf(ended) * 100);
    const says = `${percent} % of the last ${ended.length} outcomes${when} are ${spoken(of)}`;
    return { subject, holds: true, workflow, figures: figuresOf(ended), says, proof: null };
  }

  function put(subject: string, before: Outcomes, ended: readonly Ended[]): readonly Signal[] {
    const state = { ...before, ended, holds: isBad(ended) };
    subjects.put(subject, state);
    if (state.holds === before.holds) return [];
    return [state.holds ? begins(subject, state) : over(subject, before.workflow)];
  }

  return {
    see(sighting) {
      const as = outcomeOf(sighting);
      const subject = as === undefined ? null : subjectOf(per, sighting);
      if (as === undefined || subject === null) return [];
      const before = subjects.get(subject) ?? { ended: [], holds: false };
      const ended = within([...before.ended, { at: sighting.at, as }], sighting.at).slice(-last);
      return put(subject, { ...before, workflow: sighting.workflow?.id ?? null }, ended);
    },
    tick: (now) =>
      subjects.holding().flatMap(([subject, state]) => put(subject, state, within(state.ended, now))),
    due: () =>
      windowMs === null
        ? null
        : earliest(subjects.holding().map(([, { ended }]) => (ended[0]?.at ?? 0) + windowMs)),
    save: () => subjects.save(),
  };
}
