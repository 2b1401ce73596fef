/**
 * `holdpoint policy explain`: reads the action, from the journal or a file, and prints the result rule by rule.
 * An unknown field in the file is a fault: a misspelt one would be ignored.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { visible, visiblePreview } from "../../kernel/text.ts";
import {
  type ExplainedRound,
  type ExplainedRule,
  type Explanation,
  type ExplanationContext,
  explain,
  explainNotes,
  type SeenValue,
} from "../../policy/backtest/rules/explain.ts";
import type { PolicyVersionDetails, ReplayResult } from "../../policy/contract.ts";
import { inputOfWrittenAction, policiesNow, policiesThen } from "../../policy/explain-action.ts";
import { compileForTrial } from "../../policy/read.ts";
import { validatorFor } from "../../policy/recorded-tools.ts";
import type { CompiledPolicy } from "../../policy/rules/compile.ts";
import { type PolicyDocument, type PolicyText, parseDocument } from "../../policy/rules/document.ts";
import { EFFECT_CLASSES } from "../../policy/rules/tool-rules.ts";
import { callKindOfTool, type KnownTool } from "../../policy/rules/tools.ts";
import { PAST_STATUSES, type PolicyInput, type Verdict } from "../../policy/rules/verdict.ts";
import { CommandError, type Context, EXIT, flag, isOn, word } from "../shell/command.ts";
import { parseTime } from "../shell/parse.ts";
import { resolveActionId } from "../shell/resolve-id.ts";
import { type Sections, sectionsOn } from "../shell/sections.ts";
import { cut, formatMoment, missing } from "../shell/terminal.ts";
import { checkInput, loadPolicy, readJsonFile, toolsFrom } from "./load.ts";
import { shortDigest } from "./words.ts";

const SHAPE =
  'An action is { "tool", "args", "agent", "effect", "workflow": { "id", "name", "generation" }, "history": [{ "tool", "args", "status", "result", "generation", "undone", "at" }], "now" }; only tool is needed.';

const json = z.custom<Json>((value) => value !== undefined, "is missing");
const generation = z.int().min(1).default(1);
const time = z
  .union([z.number(), z.string().transform((text) => parseTime(text))])
  .refine((value) => value !== undefined, "is not a time")
  .optional();

const pastCall = z.strictObject({
  tool: z.string(),
  args: json.default({}),
  status: z.enum(PAST_STATUSES).default("applied"),
  result: json.default(null),
  generation,
  undone: z.boolean().default(false),
  at: time,
});
const workflow = z.strictObject({
  id: z.string().default("wf_1"),
  name: z.string().default(""),
  generation,
  poster: z.string().default(""),
});
const writtenAction = z.strictObject({
  tool: z.string(),
  args: json.default({}),
  agent: z.string().exactOptional(),
  effect: z.enum(EFFECT_CLASSES).optional(),
  workflow: z
    .union([z.string().transform((name) => workflow.parse({ name })), workflow], "is not a name or an object")
    .nullable()
    .default(null),
  history: z.array(pastCall).default([]),
  now: time,
});
const KEYS = [writtenAction, pastCall, workflow].flatMap(({ shape }) => Object.keys(shape));

function readActionFile(file: string, now: number, known: readonly KnownTool[]): PolicyInput {
  const given = readJsonFile(file);
  const written = checkInput(file, given, { schema: writtenAction, keys: KEYS, shape: SHAPE });
  const { history, effect, now: at = now } = written;
  const past = history.map((call, index) => ({ ...call, action: `act_${index + 1}`, at: call.at ?? at - 1 }));
  // Past calls belong to a workflow.
  const own = written.workflow ?? (past.length === 0 ? null : workflow.parse({ name: "workflow" }));
  const input = inputOfWrittenAction(written, known, at);
  return { ...input, effectClass: effect ?? input.effectClass, workflow: own, history: past };
}

type Explained = Explanation &
  Omit<ExplanationContext, "count"> & {
    readonly policy: { readonly name: string; readonly digest: string };
    readonly input: PolicyInput;
  };

/** Which policy out of how many, and its source. */
type ExplanationHead = { readonly words: string; readonly number: number; readonly count: number };

const LABELS = 14;
const MOST_VALUE = 200;
const MARKS = {
  matches: "✓",
  "does not match": "·",
  "speaks of other tools": "-",
  "cannot be answered": "!",
} as const;

function valueText({ name, value, error }: SeenValue): string {
  if (error !== null) return `${name}: ${visible(error)}`;
  const { text, left } = cut(canonicalJson(value), MOST_VALUE);
  return `${name} = ${visiblePreview(text)}${left === 0 ? "" : missing(left, "character")}`;
}

function ruleLines(rule: ExplainedRule): readonly string[] {
  const { id, verdict, shadow, outcome, error, when, values } = rule;
  const head = `${MARKS[outcome]} ${visible(id)}: ${visible(verdict)}${shadow ? ", on trial" : ""}: ${outcome}`;
  if (outcome === "speaks of other tools") return [head];
  return [
    head,
    ...(when === null ? [] : [`    when ${visible(when)}`]),
    ...values.map((one) => `    ${valueText(one)}`),
    ...(error === null ? [] : [`    ${visible(error)}; it blocks`]),
  ];
}

function verdictWords(verdict: Verdict): string {
  const set = verdict.verdict === "revise" ? ` to ${visiblePreview(canonicalJson(verdict.set))}` : "";
  return `${verdict.verdict}${set} [${verdict.rule ?? "policy"}]${verdict.reason ? `: ${verdict.reason}` : ""}`;
}

function limitWords({ allowed, toolCalls, calls }: NonNullable<ExplainedRound["limits"]>): string {
  if (!allowed) return "the tool is not among those that are allowed";
  const all = toolCalls.most === null ? `${toolCalls.made}` : `${toolCalls.made} of ${toolCalls.most}`;
  return `${all} tool calls, ${calls.made} of ${calls.most} of this tool`;
}

function printRound(sections: Sections, round: ExplainedRound, number: number): void {
  sections.heading(number === 1 ? "Rules" : `Rules, round ${number}, on what was revised`);
  if (number > 1) sections.tree("arguments", round.args);
  sections.block(round.rules.flatMap(ruleLines));
  if (round.riskConditions.length > 0) {
    sections.heading("Risk");
    sections.block(round.riskConditions.flatMap(ruleLines));
    if (round.risk !== null) sections.field("risk", `${round.risk.score}, ${round.risk.level}`);
  }
  if (round.totals.length > 0) sections.field("totals", round.totals.map(valueText).join(", "));
  if (round.limits !== null) sections.field("limits", limitWords(round.limits));
  sections.field("says", verdictWords(round.verdict));
}

function printNotes(sections: Sections, explained: Explained, { count }: ExplanationHead): void {
  const { recorded, hasSchema, input, review } = explained;
  if (recorded !== null)
    sections.field("at the time", `${recorded.verdict} [${recorded.rule}] ${recorded.reason}`);
  // How to provide a schema depends on the command line, so that note is printed here.
  for (const note of explainNotes(explained, { ...explained, hasSchema: true, count }))
    sections.field("note", note);
  if (!hasSchema && review.revisions.length > 0)
    sections.field(
      "note",
      `no schema of ${input.tool} is known: --tools gives one to check revisions against`,
    );
}

function printExplanation({ terminal, full }: Context, explained: Explained, place: ExplanationHead): void {
  const { policy, input, rounds, review } = explained;
  const sections = sectionsOn(terminal, full, LABELS);
  if (place.number > 1) terminal.line();
  if (place.count > 1) sections.heading(`Policy ${place.number} of ${place.count}`);
  sections.field("policy", `${policy.name} ${policy.digest.slice(0, 12)}, ${place.words}`);
  sections.field("action", `${input.tool} by ${input.agent} at ${formatMoment(input.now)}`);
  if (input.workflow !== null)
    sections.field(
      "workflow",
      `${input.workflow.name}, attempt ${input.workflow.generation}, ${input.history.length} calls before`,
    );
  sections.tree("arguments", input.args);
  for (const [index, round] of rounds.entries()) printRound(sections, round, index + 1);
  sections.heading("Verdict");
  sections.field(review.verdict, `[${review.rule}]${review.reason === "" ? "" : ` ${review.reason}`}`);
  if (review.revisions.length > 0) sections.tree("arguments", review.args);
  printNotes(sections, explained, place);
}

type ChosenPolicy = {
  readonly policy: CompiledPolicy;
  /** With its functions, where a module has some. */
  readonly document: PolicyDocument;
  readonly by: "verdict" | "now" | "file";
  /** For people, behind the policy's name. */
  readonly words: string;
};

/** `gone`: digests of documents that were asked at the time and are no longer kept. */
type PolicyChoice = { readonly chosen: readonly ChosenPolicy[]; readonly gone: readonly string[] };

function noStore(folder: string, what: string): CommandError {
  return new CommandError("no_store", `There is no store at ${folder}.`, what);
}

const ANOTHER = "--now explains by the policies in force now, --policy <file> by another.";
const A_FILE = "Name a file: --policy <file>";

function chosenFrom(kept: PolicyVersionDetails, by: "verdict" | "now"): ChosenPolicy {
  const policy = compileForTrial(kept.document as PolicyText);
  const now = kept.standing === "used" ? "in force now" : "put in force last; no program judges by it now";
  const words = by === "now" ? now : "the version that the verdict names";
  return { policy, document: policy.document as unknown as PolicyDocument, by, words };
}

async function fromFile(context: Context, file: string): Promise<PolicyChoice> {
  const { policy, document } = await loadPolicy(context, file);
  const shaped = parseDocument(document);
  const whole = shaped.ok ? shaped.document : (policy.document as unknown as PolicyDocument);
  return { chosen: [{ policy, document: whole, by: "file", words: `from ${file}` }], gone: [] };
}

/** Nothing can be explained: what decided is not kept, or never was a document. */
function noneKept({ action, said }: ReplayResult, gone: readonly string[]): CommandError {
  const digests = gone.map(shortDigest).join(", ");
  const what =
    said.limitOf === undefined ? "what decided is in code" : "a limit of the supervised run decided";
  const why =
    gone.length > 0
      ? `The policy documents that were asked about ${action} are no longer kept: ${digests}.`
      : `No policy document was asked about ${action}: ${what}.`;
  return new CommandError("usage", why, ANOTHER);
}

/** `told`: what the journal has of the action; null of one that is written down. */
async function choosePolicies(context: Context, told: ReplayResult | null): Promise<PolicyChoice> {
  const file = flag(context, "policy");
  if (file !== undefined && isOn(context, "now"))
    throw new CommandError("usage", "--policy and --now are two policies.", "Leave one of them out.");
  if (file !== undefined) return fromFile(context, file);
  if (!context.hasStore) throw noStore(context.folder, "Name a policy's file: --policy <file>");
  const by = told === null || isOn(context, "now") ? "now" : "verdict";
  const { policies } = context.hp;
  const { kept, gone } =
    told === null || by === "now"
      ? await policiesNow(policies, told?.said ?? null)
      : await policiesThen(policies, told.said);
  if (kept.length === 0 && told !== null && by === "verdict") throw noneKept(told, gone);
  if (kept.length === 0)
    throw new CommandError("usage", "No policy document is in force in this store.", A_FILE);
  return { chosen: kept.map((one) => chosenFrom(one, by)), gone };
}

type ActionToExplain = {
  readonly input: PolicyInput;
  /** undefined if the tool is unknown. */
  readonly tool: KnownTool | undefined;
  readonly told: ReplayResult | null;
};

/** Tools from `--tools` come before those in the journal. */
async function knownTools(context: Context): Promise<readonly KnownTool[]> {
  const given = flag(context, "tools");
  const own = given === undefined ? [] : await toolsFrom(context.hp, given);
  return context.hasStore ? [...own, ...(await context.hp.policies.tools())] : own;
}

async function readActionToExplain(context: Context): Promise<ActionToExplain> {
  const given = word(context);
  const known = await knownTools(context);
  if (existsSync(given)) {
    const input = readActionFile(given, context.now, known);
    return { input, tool: known.find(({ name }) => name === input.tool), told: null };
  }
  if (!context.hasStore) throw noStore(context.folder, `Nor is there a file ${given}.`);
  const told = await context.hp.policies.told(await resolveActionId(context, given));
  return { input: told.input, tool: known.find(({ name }) => name === told.input.tool), told };
}

export async function runExplain(context: Context): Promise<number> {
  const { input, tool, told } = await readActionToExplain(context);
  const { chosen, gone } = await choosePolicies(context, told);
  const validate = await validatorFor(tool?.schema ?? null);
  const asked = told?.asked ?? callKindOfTool(input.tool);
  for (const [index, { policy, document, by, words }] of chosen.entries()) {
    const { name, digest } = policy;
    const explained = {
      policy: { name, digest },
      by,
      input,
      recorded: told?.said ?? null,
      isWhole: told?.isWhole ?? true,
      hasSchema: tool?.schema != null,
      gone,
      ...explain(document, policy, { input, asked }, validate),
    };
    if (context.json) context.terminal.json(explained);
    else printExplanation(context, explained, { words, number: index + 1, count: chosen.length });
  }
  return EXIT.ok;
}
