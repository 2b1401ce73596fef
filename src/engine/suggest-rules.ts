/** Suggestions from a journal. */

import { collect, openSamples } from "../core/backtest/samples.ts";
import { type Suggestion, suggestionsFrom } from "../core/backtest/suggest.ts";
import { argsType } from "../core/policy/expression.ts";
import { neverYield, runYielding } from "../runtime/concurrency.ts";
import { DEFAULT_MIN_DECISIONS } from "../runtime/settings.ts";
import type { Store } from "../stores/store.ts";
import { knownTools } from "./backtest/known-tools.ts";
import { type Playing, type Progress, playJournal } from "./backtest/play.ts";
import { type TriedRule, tryRules } from "./backtest/try-rules.ts";

export type SuggestOptions = {
  /** Actions proposed at this time or later, in milliseconds since 1970. All of them unless set. */
  readonly since?: number;
  /** How many approvals a suggestion has to rest on; 20 unless set. */
  readonly min?: number;
  readonly progress?: Progress;
};

export type Suggestions = {
  /** Each with what it does as a rule. */
  readonly suggestions: readonly (Suggestion & { readonly asRule: TriedRule })[];
  /** Actions that people were asked about. */
  readonly asked: number;
  /** Bodies that were erased: what people said of them is not known. */
  readonly erased: number;
};

export async function suggestRules(
  place: { readonly store: Store; readonly tenant: string },
  { since, min = DEFAULT_MIN_DECISIONS, ...playing }: SuggestOptions & Playing = {},
): Promise<Suggestions> {
  const samples = openSamples(since ?? null);
  await playJournal(place, (heard) => collect(samples, heard), playing);
  const asked = [...samples.groups.values()].reduce((sum, group) => sum + group.samples.length, 0);
  const tools = await knownTools(place);
  const schemas = new Map(tools.map(({ name, schema }) => [name, schema]));
  const steps = suggestionsFrom(samples, min, (tool) => argsType(schemas.get(tool) ?? null));
  const found = await runYielding(steps, playing.pace ?? neverYield);
  const tried = await tryRules(place, found, { since: since ?? null, tools, ...playing });
  const suggestions = found.flatMap((one, index) => {
    const asRule = tried[index];
    return asRule === undefined ? [] : [{ ...one, asRule }];
  });
  return { suggestions, asked, erased: samples.erased };
}
