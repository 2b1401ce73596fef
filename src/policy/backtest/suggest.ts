/** Suggestions from a journal, with their words. Yields to other work. */

import { createYieldCheck, runYielding } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { DEFAULT_MIN_DECISIONS } from "../../runtime/settings.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { Suggestions, SuggestOptions } from "../contract.ts";
import { argsType } from "../expression/expression.ts";
import type { PolicyText } from "../rules/document.ts";
import { loadKeptDocument, loadPolicyNames } from "../versions.ts";
import { listRecordedTools } from "./recorded-tools.ts";
import { replayJournal } from "./replay-journal.ts";
import type { SuggestedRule } from "./rules/answers.ts";
import { collectSample, openSamples } from "./rules/decision-samples.ts";
import { rulesFor, suggestionsFrom } from "./rules/suggestions.ts";
import { describeSuggestion } from "./suggestion-text.ts";

/** The rules of all stored documents. */
async function storedRules(place: TenantStore): Promise<NonNullable<PolicyText["rules"]>> {
  const names = await loadPolicyNames(place);
  const documents = await Promise.all([...names.keys()].map((digest) => loadKeptDocument(place, digest)));
  return documents.flatMap((document) => document?.rules ?? []);
}

export async function suggestRules(
  runtime: Runtime,
  { since, min = DEFAULT_MIN_DECISIONS, progress }: SuggestOptions,
): Promise<Suggestions> {
  const samples = openSamples(since ?? null);
  const pace = createYieldCheck(runtime);
  await replayJournal(runtime, (heard) => collectSample(samples, heard), { progress, pace });
  const asked = [...samples.groups.values()].reduce((sum, group) => sum + group.samples.length, 0);
  const tools = await listRecordedTools(runtime);
  const schemas = new Map(tools.map(({ name, schema }) => [name, schema]));
  const steps = suggestionsFrom(samples, min, (tool) => argsType(schemas.get(tool) ?? null));
  const found = await runYielding(steps, pace);
  const rules = rulesFor(found, found.length === 0 ? [] : await storedRules(runtime));
  const suggestions = found.map((one, index) => describeSuggestion(one, rules[index] as SuggestedRule));
  return { suggestions, asked, erased: samples.erased };
}
