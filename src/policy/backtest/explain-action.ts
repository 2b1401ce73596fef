/**
 * Explains one action, recorded or written by hand: the verdict of the policies in force, or of a given text, and why.
 * A written action has no workflow and no history.
 */

import { documentsNamed } from "../../effects/state.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { createYieldCheck, nextTurn, runYielding } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { compileForTrial, readPolicyForTrial } from "../read.ts";
import type { CompiledPolicy } from "../rules/compile.ts";
import type { PolicyDocument } from "../rules/document.ts";
import { callKindOfTool, FINAL, type KnownTool } from "../rules/tools.ts";
import type { PolicyInput, Risk } from "../rules/verdict.ts";
import { listPolicies, type PolicyVersionSummary, versionInForce } from "../versions.ts";
import { loadKeptDocument } from "./candidate-policy.ts";
import { type Validate, validatorFor } from "./recorded-tools.ts";
import { type ReplayResult, readFirstReview } from "./replay-journal.ts";
import {
  type Explanation,
  type ExplanationContext,
  explaining,
  explainNotes,
  ruleStates,
  type StatedRule,
} from "./rules/explain.ts";

/** Placeholder for an agent without a name. */
export const SOMEONE = "agent:someone";

export const agentNamed = (name: string): string => (name.startsWith("agent:") ? name : `agent:${name}`);

/** The tool's own class if known. Default: `read` for a final answer, else `once`. */
export function usualEffect(tool: string, known: readonly KnownTool[]): string {
  const own = known.find(({ name }) => name === tool)?.effectClass;
  return own ?? (tool === FINAL ? "read" : "once");
}

export type WrittenAction = { readonly tool: string; readonly args: Json; readonly agent?: string };

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

type ExplainRequest = {
  /** A policy's text. Default: the policies in force. */
  readonly text?: string;
  /** A recorded action, by any of its ids, or a written one. */
  readonly about: string | WrittenAction;
  /** The tools in the journal. */
  readonly tools: readonly KnownTool[];
};

type VerdictSummary = { readonly verdict: string; readonly rule: string; readonly reason: string };

export type ExplainedAction = {
  readonly policy: { readonly name: string; readonly digest: string };
  readonly final: VerdictSummary & { readonly args: Json; readonly isChanged: boolean };
  readonly risk: Risk | null;
  readonly rules: readonly StatedRule[];
  readonly recorded: VerdictSummary | null;
  readonly notes: readonly string[];
};

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

const summarizeVerdict = ({ verdict, rule, reason }: VerdictSummary): VerdictSummary => ({
  verdict,
  rule,
  reason,
});

type Asking = Omit<ExplanationContext, "count"> &
  Parameters<typeof explaining>[2] & { readonly validate: Validate };

function toExplainedAction(
  policy: CompiledPolicy,
  explained: Explanation,
  asking: Asking,
  count: number,
): ExplainedAction {
  const { review } = explained;
  return {
    policy: { name: policy.name, digest: policy.digest },
    final: { ...summarizeVerdict(review), args: review.args, isChanged: review.revisions.length > 0 },
    risk: review.risk,
    rules: ruleStates(explained),
    recorded: asking.recorded && summarizeVerdict(asking.recorded),
    notes: explainNotes(explained, { ...asking, count }),
  };
}

/** One explanation per document; none if no document is in force. */
export async function explainAction(
  place: ExplainRuntime,
  { text, about, tools }: ExplainRequest,
): Promise<readonly ExplainedAction[]> {
  const told = typeof about === "string" ? await readFirstReview(place, about) : null;
  const input =
    typeof about === "string" ? told?.input : inputOfWrittenAction(about, tools, place.clock.now());
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
