/** Suggestions from a journal. A server runs one search at a time per instance, yielding to other work. */

import { HoldpointError } from "../../kernel/errors.ts";
import { createYieldCheck, neverYield, runYielding } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { DEFAULT_MIN_DECISIONS } from "../../runtime/settings.ts";
import type { Store, TenantStore } from "../../stores/store.ts";
import { argsType } from "../expression/expression.ts";
import type { PolicyText } from "../rules/document.ts";
import { loadPolicyNames } from "../versions.ts";
import { loadKeptDocument } from "./candidate-policy.ts";
import { listRecordedTools } from "./recorded-tools.ts";
import { type ReplayOptions, type ReplayProgress, replayJournal } from "./replay-journal.ts";
import { collectSample, openSamples } from "./rules/decision-samples.ts";
import { rulesFor, type SuggestedRule, type Suggestion, suggestionsFrom } from "./rules/suggestions.ts";

/** The rules of all stored documents. */
async function storedRules(place: TenantStore): Promise<NonNullable<PolicyText["rules"]>> {
  const names = await loadPolicyNames(place);
  const documents = await Promise.all([...names.keys()].map((digest) => loadKeptDocument(place, digest)));
  return documents.flatMap((document) => document?.rules ?? []);
}

export type SuggestOptions = {
  /** Only actions proposed at or after this time, in milliseconds since 1970. Default: all. */
  readonly since?: number;
  /** Minimum number of approvals behind a suggestion. Default: 20. */
  readonly min?: number;
  readonly progress?: ReplayProgress;
};

export type Suggestions = {
  readonly suggestions: readonly (Suggestion & { readonly asRule: SuggestedRule })[];
  /** Actions for which approval was requested. */
  readonly asked: number;
  /** Erased bodies: the human decisions about them are unknown. */
  readonly erased: number;
};

export async function suggestRules(
  place: { readonly store: Store; readonly tenant: string },
  { since, min = DEFAULT_MIN_DECISIONS, ...playing }: SuggestOptions & ReplayOptions = {},
): Promise<Suggestions> {
  const samples = openSamples(since ?? null);
  await replayJournal(place, (heard) => collectSample(samples, heard), playing);
  const asked = [...samples.groups.values()].reduce((sum, group) => sum + group.samples.length, 0);
  const tools = await listRecordedTools(place);
  const schemas = new Map(tools.map(({ name, schema }) => [name, schema]));
  const steps = suggestionsFrom(samples, min, (tool) => argsType(schemas.get(tool) ?? null));
  const found = await runYielding(steps, playing.pace ?? neverYield);
  const rules = rulesFor(found, found.length === 0 ? [] : await storedRules(place));
  const suggestions = found.map((one, index) => ({ ...one, asRule: rules[index] as SuggestedRule }));
  return { suggestions, asked, erased: samples.erased };
}

export type FreshSuggestions = Suggestions & {
  /** Position of the journal when the search started. */
  readonly position: number;
};

/** One percent more journal may change the result. */
const MOVED_SHARE = 100;
const LOOK_AGAIN_SECONDS = 5;

const searching = new WeakSet<Runtime>();

export async function freshSuggestions(runtime: Runtime, min: number): Promise<FreshSuggestions> {
  if (searching.has(runtime))
    throw new HoldpointError("rate_limited", "Suggestions are being looked for already.", {
      details: { retry_after: LOOK_AGAIN_SECONDS },
    });
  searching.add(runtime);
  try {
    const position = await runtime.store.position();
    return { ...(await suggestRules(runtime, { min, pace: createYieldCheck(runtime) })), position };
  } finally {
    searching.delete(runtime);
  }
}

export async function areStillFresh(
  { store }: { readonly store: Pick<Store, "position"> },
  { position }: Pick<FreshSuggestions, "position">,
): Promise<boolean> {
  const moved = (await store.position()) - position;
  return moved * MOVED_SHARE <= position;
}
