/**
 * Explains one action, recorded or written by hand: the verdict of the policies in force, or of a given text, and why.
 * A written action has no workflow and no history.
 */

import { documentsNamed } from "../effects/state.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
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
  Policies,
  PolicyVersionDetails,
  ReplayResult,
  WrittenAction,
} from "./contract.ts";
import { compileForTrial } from "./read.ts";
import { type Validate, validatorFor } from "./recorded-tools.ts";
import type { CompiledPolicy } from "./rules/compile.ts";
import type { PolicyDocument, PolicyText } from "./rules/document.ts";
import type { Review } from "./rules/review.ts";
import { callKindOfTool, FINAL, type KnownTool } from "./rules/tools.ts";
import type { PolicyInput } from "./rules/verdict.ts";
import { getPolicy, listPolicies, versionInForce } from "./versions.ts";

/** Alone and outside a workflow. The effect is the tool's own if known; else `read` for a final answer, or `once`. */
export function inputOfWrittenAction(
  { tool, args, agent = "someone" }: WrittenAction,
  known: readonly KnownTool[],
  now: number,
): PolicyInput {
  const who = agent.startsWith("agent:") ? agent : `agent:${agent}`;
  const own = known.find(({ name }) => name === tool)?.effectClass;
  const effectClass = own ?? (tool === FINAL ? "read" : "once");
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

/** The verbs that find policies: those of this process, or of a server. */
type PolicyReader = Pick<Policies, "get" | "list">;

/** `gone`: digests of documents that are no longer kept. */
type KeptPolicies = { readonly kept: readonly PolicyVersionDetails[]; readonly gone: readonly string[] };

async function getKept({ get }: PolicyReader, digest: string): Promise<PolicyVersionDetails | undefined> {
  try {
    return await get(digest);
  } catch (error) {
    if (isHoldpointError(error, "unknown_id") || isHoldpointError(error, "body_erased")) return undefined;
    throw error;
  }
}

async function getAllKept(reader: PolicyReader, digests: readonly string[]): Promise<KeptPolicies> {
  const found = await Promise.all(digests.map((digest) => getKept(reader, digest)));
  return {
    kept: found.flatMap((one) => one ?? []),
    gone: digests.filter((_, index) => found[index] === undefined),
  };
}

/** The documents that judged a recorded action. */
export async function policiesThen(reader: PolicyReader, said: ReplayResult["said"]): Promise<KeptPolicies> {
  const { kept, gone } = await getAllKept(reader, documentsNamed(said));
  // A digest that only may be a document's is gone only where the entry says that it is one.
  const isDocument = said.documents !== undefined || said.document !== undefined;
  return { kept, gone: isDocument ? gone : [] };
}

/** For an action judged by documents: the current versions of the same names. Else the version put in force last. */
export async function policiesNow(
  reader: PolicyReader,
  said: ReplayResult["said"] | null,
): Promise<KeptPolicies> {
  const all = await reader.list();
  const then = said === null ? { kept: [], gone: [] } : await policiesThen(reader, said);
  // The list has the name of an erased document too.
  const asked = said === null ? [] : documentsNamed(said);
  const names = [...new Set(all.flatMap(({ digest, name }) => (asked.includes(digest) ? name : [])))];
  const sets = names.length === 0 ? [all] : names.map((name) => all.filter((one) => one.name === name));
  const current = sets.flatMap((versions) => versionInForce(versions)?.digest ?? []);
  const now = await getAllKept(reader, current);
  return { kept: now.kept, gone: [...then.gone, ...now.gone] };
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
  const reader = { list: () => listPolicies(place), get: (name: string) => getPolicy(place, name) };
  const { kept, gone } =
    text === undefined ? await policiesNow(reader, told?.said ?? null) : { kept: [], gone: [] };
  const documents = text === undefined ? kept.map(({ document }) => document as PolicyText) : [text];
  const policies = documents.map(compileForTrial);
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
