/** Why policies say what they say of one action: those in force now, or one that is tried. */
import { documentsNamed } from "../../core/action/review-facts.ts";
import { type Explanation, explaining } from "../../core/backtest/explain.ts";
import { type Beside, explainNotes } from "../../core/backtest/explain-notes.ts";
import { ruleStates, type StatedRule } from "../../core/backtest/rule-states.ts";
import type { CompiledPolicy } from "../../core/policy/compile.ts";
import type { PolicyDocument } from "../../core/policy/document.ts";
import type { KnownTool } from "../../core/policy/known-tool.ts";
import { askedBy } from "../../core/policy/tool-pattern.ts";
import type { Risk } from "../../core/verdict.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { createYieldCheck, nextTurn, runYielding } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { compiledForTrial } from "../policies.ts";
import { policyOnTrial } from "../policy/policy-on-trial.ts";

import { keptDocument } from "./beside.ts";
import { type Validate, validatorFor } from "./candidate.ts";
import { inForceNow } from "./in-force-now.ts";
import { type ListedVersion, listPolicies } from "./kept-policies.ts";
import { type Told, toldOf } from "./told.ts";
import { inputOfWritten, type WrittenAction } from "./written-action.ts";

export type ExplainAsked = {
  /** A policy's text; without one, those in force now. */
  readonly text?: string;
  /** A recorded action, by any of its ids; or one that is written down. */
  readonly about: string | WrittenAction;
  /** The tools that the journal knows. */
  readonly tools: readonly KnownTool[];
};

type Said = { readonly verdict: string; readonly rule: string; readonly reason: string };

export type ExplainedAction = {
  readonly policy: { readonly name: string; readonly digest: string };
  readonly final: Said & { readonly args: Json; readonly isChanged: boolean };
  readonly risk: Risk | null;
  readonly rules: readonly StatedRule[];
  readonly recorded: Said | null;
  readonly notes: readonly string[];
};

type Place = Pick<Runtime, "store" | "tenant" | "clock" | "closing">;

/** Every rule looks at all of them, and is not to be waited for. */
const MOST_ARGS = 65_536;

function checkSize(args: Json): void {
  const bytes = Buffer.byteLength(canonicalJson(args));
  if (bytes <= MOST_ARGS) return;
  const what = `The arguments have ${bytes} bytes as JSON; at most ${MOST_ARGS} are explained here.`;
  throw new HoldpointError("payload_too_large", what, {
    next: "Explain it at the store, with holdpoint policy explain.",
  });
}

/** Of an action that documents were asked about, what their names stand for now; else what was put in force last. */
async function versionsFor(place: Place, told: Told | null): Promise<readonly ListedVersion[]> {
  const all = await listPolicies(place);
  const asked = told === null ? [] : documentsNamed(told.said);
  const names = new Set(all.filter(({ digest }) => asked.includes(digest)).map(({ name }) => name));
  const named = [...names].map((name) => inForceNow(all.filter((one) => one.name === name)));
  const found = names.size === 0 ? [inForceNow(all)] : named;
  return found.flatMap((one) => one?.version ?? []);
}

type Found = { readonly policies: readonly CompiledPolicy[]; readonly gone: readonly string[] };

async function policiesFor(place: Place, told: Told | null): Promise<Found> {
  const versions = await versionsFor(place, told);
  const kept = await Promise.all(versions.map(({ digest }) => keptDocument(place, digest)));
  return {
    policies: kept.flatMap((document) => (document === undefined ? [] : [compiledForTrial(document)])),
    gone: versions.filter((_, index) => kept[index] === undefined).map(({ digest }) => digest),
  };
}

const saidIn = ({ verdict, rule, reason }: Said): Said => ({ verdict, rule, reason });

type Asking = Omit<Beside, "count"> & Parameters<typeof explaining>[2] & { readonly validate: Validate };

function toldBy(
  policy: CompiledPolicy,
  explained: Explanation,
  asking: Asking,
  count: number,
): ExplainedAction {
  const { review } = explained;
  return {
    policy: { name: policy.name, digest: policy.digest },
    final: { ...saidIn(review), args: review.args, isChanged: review.revisions.length > 0 },
    risk: review.risk,
    rules: ruleStates(explained),
    recorded: asking.recorded && saidIn(asking.recorded),
    notes: explainNotes(explained, { ...asking, count }),
  };
}

/** One for each document that is asked; none where no document is in force. */
export async function explainAction(
  place: Place,
  { text, about, tools }: ExplainAsked,
): Promise<readonly ExplainedAction[]> {
  const told = typeof about === "string" ? await toldOf(place, about) : null;
  const input = typeof about === "string" ? told?.input : inputOfWritten(about, tools, place.clock.now());
  if (input === undefined) return [];
  checkSize(input.args);
  const { policies, gone } =
    text === undefined ? await policiesFor(place, told) : { policies: [await policyOnTrial(text)], gone: [] };
  const schema = tools.find(({ name }) => name === input.tool)?.schema ?? null;
  const asking = {
    input,
    asked: told?.asked ?? askedBy(input.tool),
    validate: await validatorFor(schema),
    recorded: told?.said ?? null,
    isWhole: told?.isWhole ?? true,
    hasSchema: schema !== null,
    gone,
  };
  const answers: ExplainedAction[] = [];
  const pace = createYieldCheck(place);
  for (const policy of policies) {
    await nextTurn();
    const document = policy.document as unknown as PolicyDocument;
    const explained = await runYielding(explaining(document, policy, asking, asking.validate), pace);
    answers.push(toldBy(policy, explained, asking, policies.length));
  }
  return answers;
}
