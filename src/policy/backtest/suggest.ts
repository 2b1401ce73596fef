/**
 * Suggestions from a journal: each in a sentence, as a rule to paste, and as a standing grant for a week, with the uses
 * and amount of the busiest week. The search yields to other work.
 */

import type { JsonObject } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import { createYieldCheck, runYielding } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { DEFAULT_MIN_DECISIONS } from "../../runtime/settings.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { DescribedSuggestion, SuggestedGrant, Suggestions, SuggestOptions } from "../contract.ts";
import { listRecordedTools } from "../recorded-tools.ts";
import type { PolicyText } from "../rules/document.ts";
import { loadKeptDocument, loadPolicyNames } from "../versions.ts";
import { replayJournal } from "./replay-journal.ts";
import type { FieldCondition, Narrowing, SuggestedRule, Suggestion } from "./rules/answers.ts";
import { CURRENCY, collectSample, openSamples, rulesFor, suggestionsFrom } from "./rules/suggestions.ts";

function conditionWords(condition: FieldCondition): readonly string[] {
  const field = visible(condition.field);
  switch (condition.kind) {
    case "least":
      return condition.value > 0 ? [`${field} from ${condition.value}`] : [];
    case "most":
      return [`${field} up to ${condition.value}`];
    case "is":
      return [`${field} ${JSON.stringify(condition.value)}`];
    case "one_of":
      return [`${field} ${condition.values.map((one) => JSON.stringify(one)).join(" or ")}`];
    default:
      return [];
  }
}

/** For example `pay by agent:support with amount_usd up to 120 and any note: approved 50 of 50, never changed`. */
function headline({ tool, agent, conditions, open, approved }: Suggestion): string {
  const words = [...conditions.flatMap(conditionWords), ...open.map((field) => `any ${visible(field)}`)];
  const [last, ...rest] = words.toReversed();
  const what = rest.length === 0 ? last : `${rest.toReversed().join(", ")} and ${last}`;
  const when = what === undefined ? "without arguments" : `with ${what}`;
  return `${visible(tool)} by ${visible(agent)} ${when}: approved ${approved} of ${approved}, never changed`;
}

/** A timestamp outside the range of dates is shown as a number. */
function day(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString().slice(0, 10);
}

/** For example `2026-05-04 to 2026-05-08`, or a single day. */
export const dayRangeText = ({ first, last }: Suggestion): string =>
  day(first) === day(last) ? day(first) : `${day(first)} to ${day(last)}`;

function suggestionReason(suggestion: Suggestion): string {
  const { approved, people } = suggestion;
  const who = `${people.length} ${people.length === 1 ? "person" : "people"}`;
  return `approved ${approved} of ${approved} by ${who}, ${dayRangeText(suggestion)}`;
}

/** A grant is given by one person, so it does not cover requests to several people. */
function grantEffectText({ letThrough: { ofSeveral, weekly, total } }: Suggestion): string {
  const several = "ask several people, by a quorum or in stages";
  if (weekly === 0)
    return `No grant answers these: they ${several}, and a grant is one person's. To grant them, a rule that asks one person has to come first.`;
  const some = ofSeveral === 0 ? "" : `; not for ${ofSeveral} of the ${total}, which ${several}`;
  return `As a grant, which ends by itself and can be taken back${some}.`;
}

/** What escalates besides rules, that is risk routes and code, still does. */
function ruleEffectText({ narrowings, stillAskedBy }: SuggestedRule): string {
  const how = narrowings.length === 0 ? "As a rule" : "As a rule, with the rules that asked narrowed";
  if (stillAskedBy.length === 0) return `${how}.`;
  const who = stillAskedBy.map(visible).join(", ");
  return `${how}. People are still asked by ${who}: no approve rule outranks a route of the risk, or code of the program.`;
}

/** YAML single quotes: no other character is special in them. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const inBrackets = (id: string, more: string): string =>
  `# in the rule ${visible(id)}: put its "when", if it has one, into brackets, and add  && ${more}`;

function narrowLines({ rule, copy }: Narrowing, { tool, when }: SuggestedRule["rule"]): readonly string[] {
  if (copy === null) return [inBrackets(rule, `!(${when})`)];
  return [
    inBrackets(rule, `tool.name != ${JSON.stringify(tool)}`),
    `# after it, once more the rule ${visible(rule)} as it was, with  id: ${copy}  tool: ${quoted(visible(tool))}  and the same with  && !(${when})`,
  ];
}

function ruleLines(suggestion: Suggestion, { rule, narrowings }: SuggestedRule): readonly string[] {
  const { id, tool, when } = rule;
  return [
    `- id: ${id}`,
    `  tool: ${quoted(visible(tool))}`,
    `  when: ${quoted(when)}`,
    "  verdict: approve",
    `  reason: ${quoted(suggestionReason(suggestion))}`,
    ...narrowings.flatMap((one) => narrowLines(one, rule)),
  ];
}

const GRANTED_MS = 7 * 86_400_000;
const CENT = 10_000n;

/** A bounded amount whose name has a currency. */
function suggestedLimit({ letThrough }: Suggestion): Pick<SuggestedGrant, "total" | "amount"> {
  const found = letThrough.sums.find(({ field }) => CURRENCY.test(field));
  const currency = CURRENCY.exec(found?.field ?? "")?.[1]?.toUpperCase();
  const cents = Math.ceil((found?.weekly ?? Number.NaN) * 100);
  if (found === undefined || currency === undefined || !Number.isSafeInteger(cents)) return {};
  return { total: { currency, micros: BigInt(cents) * CENT }, amount: found.path };
}

/** Null if no grant fits: a grant is given by one person, and these requests need several. */
function suggestedGrant(suggestion: Suggestion): SuggestedGrant | null {
  const { tool, agent, when, letThrough } = suggestion;
  if (letThrough.weekly === 0) return null;
  const reason = suggestionReason(suggestion);
  return {
    tool,
    agent,
    when,
    uses: letThrough.weekly,
    forMs: GRANTED_MS,
    ...suggestedLimit(suggestion),
    reason,
  };
}

function describeSuggestion(suggestion: Suggestion, rule: SuggestedRule): DescribedSuggestion {
  const text = `${ruleLines(suggestion, rule).join("\n")}\n`;
  return {
    headline: headline(suggestion),
    ...suggestion,
    asRule: { ...rule, text, summary: ruleEffectText(rule) },
    asGrant: { offer: suggestedGrant(suggestion), summary: grantEffectText(suggestion) },
  };
}

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
  await replayJournal(runtime, (event) => collectSample(samples, event), { progress, pace });
  const asked = [...samples.groups.values()].reduce((sum, group) => sum + group.samples.length, 0);
  const tools = await listRecordedTools(runtime);
  const schemas = new Map<string, JsonObject | null>(tools.map(({ name, schema }) => [name, schema]));
  const found = await runYielding(
    suggestionsFrom(samples, min, (tool) => schemas.get(tool) ?? null),
    pace,
  );
  const rules = rulesFor(found, found.length === 0 ? [] : await storedRules(runtime));
  const suggestions = found.map((one, index) => describeSuggestion(one, rules[index] as SuggestedRule));
  return { suggestions, asked, erased: samples.erased };
}
