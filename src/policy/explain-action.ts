/**
 * Explains one action, recorded or written by hand: the verdict of the policies in force, or of a given text, and why.
 * A written action has no workflow and no history.
 */

import { documentsNamed } from "../effects/state.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { createYieldCheck, nextTurn, runYielding } from "../runtime/concurrency.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readFirstReview } from "./backtest/replay-journal.ts";
import {
  type Explanation,
  type ExplanationContext,
  explaining,
  explainNotes,
  ruleStates,
} from "./backtest/rules/explain.ts";
import type {
  ExplainedAction,
  ExplainRequest,
  PolicyVersionSummary,
  ReplayResult,
  WrittenAction,
} from "./contract.ts";
import { compileForTrial, readPolicyForTrial } from "./read.ts";
import { type Validate, validatorFor } from "./recorded-tools.ts";
import type { CompiledPolicy } from "./rules/compile.ts";
import type { PolicyDocument } from "./rules/document.ts";
import type { Review } from "./rules/review.ts";
import { callKindOfTool, FINAL, type KnownTool } from "./rules/tools.ts";
import type { PolicyInput } from "./rules/verdict.ts";
import { listPolicies, loadKeptDocument, versionInForce } from "./versions.ts";

/** Placeholder for an agent without a name. */
export const SOMEONE = "agent:someone";

export const agentNamed = (name: string): string => (name.startsWith("agent:") ? name : `agent:${name}`);

/** The tool's own class if known. Default: `read` for a final answer, else `once`. */
export function usualEffect(tool: string, known: readonly KnownTool[]): string {
  const own = known.find(({ name }) => name === tool)?.effectClass;
  return own ?? (tool === FINAL ? "read" : "once");
}

/** Alone and outside a workflow. */
function inputOfWrittenAction(
  { tool, args, agent = SOMEONE }: WrittenAction,
  known: readonly KnownTool[],
  now: number,
): PolicyInput {
  const who = agentNamed(agent);
  const effectClass = usualEffect(tool, known);
  const facts = { tool, effectClass, args, agent: who, requester: [who], requestId: null };
  return { ...facts, workflow: null, history: [], now };
}

type ExplainRuntime = Pick<Runtime, "store" | "tenant" | "clock" | "closing">;

/** Every rule reads all arguments, and the server must not be blocked. */
const MOST_ARGS = 65_536;

function checkSize(args: Json): void {
  const bytes = Buffer.byteLength(canonicalJson(args));
  if (bytes <= MOST_ARGS) return;
  const what = `The arguments have ${bytes} bytes as JSON; at most ${MOST_ARGS} are explained here.`;
  throw new HoldpointError("payload_too_large", what, {
    next: "Explain it at the store, with holdpoint policy explain.",
  });
}

/** For an action judged by documents: the current versions of the same names. Else the version put in force last. */
async function versionsFor(
  place: ExplainRuntime,
  told: ReplayResult | null,
): Promise<readonly PolicyVersionSummary[]> {
  const all = await listPolicies(place);
  const asked = told === null ? [] : documentsNamed(told.said);
  const names = new Set(all.filter(({ digest }) => asked.includes(digest)).map(({ name }) => name));
  const named = [...names].map((name) => versionInForce(all.filter((one) => one.name === name)));
  const found = names.size === 0 ? [versionInForce(all)] : named;
  return found.flatMap((one) => one?.version ?? []);
}

type CompiledPolicies = { readonly policies: readonly CompiledPolicy[]; readonly gone: readonly string[] };

async function policiesFor(place: ExplainRuntime, told: ReplayResult | null): Promise<CompiledPolicies> {
  const versions = await versionsFor(place, told);
  const kept = await Promise.all(versions.map(({ digest }) => loadKeptDocument(place, digest)));
  return {
    policies: kept.flatMap((document) => (document === undefined ? [] : [compileForTrial(document)])),
    gone: versions.filter((_, index) => kept[index] === undefined).map(({ digest }) => digest),
  };
}

type Spoken = Pick<Review, "rule" | "reason"> & { readonly verdict: string };
const spoken = ({ verdict, rule, reason }: Spoken) => ({ verdict, rule, reason });

type Asking = Omit<ExplanationContext, "count"> &
  Parameters<typeof explaining>[2] & { readonly validate: Validate };

function toExplainedAction(
  policy: CompiledPolicy,
  explained: Explanation,
  asking: Asking,
  count: number,
): ExplainedAction {
  const { review } = explained;
  const { risk } = review;
  return {
    ...{ policy: policy.name, digest: policy.digest },
    final: { ...spoken(review), args: review.args, changed: review.revisions.length > 0 },
    risk: risk && { score: risk.score, level: risk.level, conditions: risk.conditions },
    rules: ruleStates(explained),
    recorded: asking.recorded && spoken(asking.recorded),
    notes: explainNotes(explained, { ...asking, count }),
  };
}

/** One explanation per document; none if no document is in force. `tools`: those in the journal. */
export async function explainAction(
  place: ExplainRuntime,
  { text, id, action }: ExplainRequest,
  tools: readonly KnownTool[],
): Promise<readonly ExplainedAction[]> {
  const told = id === undefined ? null : await readFirstReview(place, id);
  const written = action && inputOfWrittenAction(action, tools, place.clock.now());
  const input = told?.input ?? written;
  if (input === undefined) return [];
  checkSize(input.args);
  const { policies, gone } =
    text === undefined
      ? await policiesFor(place, told)
      : { policies: [await readPolicyForTrial(text)], gone: [] };
  const schema = tools.find(({ name }) => name === input.tool)?.schema ?? null;
  const asking = {
    input,
    asked: told?.asked ?? callKindOfTool(input.tool),
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
    answers.push(toExplainedAction(policy, explained, asking, policies.length));
  }
  return answers;
}
