/**
 * Options of `hp.supervise`, checked before anything is looked at, and its policy where that is a document: a file that is
 * followed, or the same as an object. Each run opens its own, checked against the tools of this run alone.
 */
import { checkPolicy, type Policy } from "../effects/define-tool.ts";
import { type GatedTool, type Gates, getUndoTool } from "../effects/gate.ts";
import type { Tool } from "../effects/tool.ts";
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";
import { livePolicy } from "../policy/live-policy.ts";
import type { PolicySource } from "../policy/read.ts";
import type { CompiledPolicy } from "../policy/rules/compile.ts";
import type { Notice } from "../runtime/notices.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Model } from "./models/model.ts";
import { DEFAULT_RUN_LIMITS, type RunLimits } from "./rules/limits.ts";

type PolicyOption = Policy<never> | PolicySource | undefined;

/** A path ends like one; a verdict says that it is one. */
export function isPolicyDocument(policy: PolicyOption): policy is PolicySource {
  if (typeof policy === "string") return /\.(?:ya?ml|json)$/i.test(policy);
  return typeof policy === "object" && policy !== null && !("verdict" in policy);
}

export type OpenPolicyDocument = {
  readonly document: () => CompiledPolicy;
  /** When the run is over it goes by it no longer. */
  readonly giveBack: () => Promise<void>;
};

/** Each run has its own: it is checked against the tools that this run calls, and against no other's. */
export async function openPolicyDocument(
  { tools: all }: Gates,
  runtime: Runtime,
  source: PolicySource,
  own: Iterable<Tool>,
): Promise<OpenPolicyDocument> {
  const called = [...own].flatMap((tool) => [tool, getUndoTool(tool) ?? []].flat());
  const tools = new Map(called.map((tool) => [tool.rules.name, tool]));
  const live = livePolicy(source, { tools, elsewhere: all });
  const giveBack = () => live.close(runtime);
  try {
    // Answers once its version is in the journal.
    await live.open(runtime);
  } catch (error) {
    await giveBack();
    throw error;
  }
  return { document: () => live.current(), giveBack };
}

export type DocumentLimits = CompiledPolicy["limits"];

/** The tightest of what the documents say that hold for a run. */
export function tightestLimits(all: readonly DocumentLimits[]): DocumentLimits {
  const limits: { -readonly [Field in keyof DocumentLimits]: DocumentLimits[Field] } = {};
  for (const field of ["steps", "toolCalls", "seconds"] as const) {
    const said = all.flatMap((one) => one[field] ?? []);
    if (said.length > 0) limits[field] = Math.min(...said);
  }
  return limits;
}

/** A tool of `hp.gate`, or the definition of one. */
export type SupervisedTool =
  | GatedTool<never, unknown>
  | { readonly name: string; readonly [field: string]: unknown };

/** A model of the Vercel AI SDK. */
type AiSdkModel = {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
};

/** Any address that speaks OpenAI's chat completions; without one, a model with how it is to be spoken with. */
type ModelAddress = {
  readonly timeoutMs?: number;
  /** Hear the answer piece by piece; some servers give up a connection on which nothing moves. */
  readonly stream?: boolean;
} & (
  | { readonly baseUrl: string; readonly model: string; readonly apiKey?: string }
  | { readonly model: string | AiSdkModel }
);

/** `"openai/gpt-4.1-mini"`, `"anthropic/claude-…"`, an address, a model of the AI SDK, or one of your own. */
export type ModelChoice = string | ModelAddress | AiSdkModel | Model;

export type SuperviseOptions = {
  readonly goal: string;
  readonly tools: readonly SupervisedTool[];
  readonly model: ModelChoice;
  /**
   * Asked for every call and for the final answer: a function, a verdict, or a document (the object, or the path of a file that
   * ends with .yaml, .yml or .json). A tool's own policy and the instance's document are asked too; the strictest holds.
   */
  readonly policy?: Policy<never> | PolicySource;
  /** The request id: the same again leads to the same run, in another process too. */
  readonly id?: string;
  /** Of the workflow that it is; `supervise` unless set. Agents with other tools need other names. */
  readonly name?: string;
  readonly limits?: Partial<RunLimits>;
  /** What is refused ends the run (`stop`, unless set), or goes back to the model. */
  readonly onRefusal?: "stop" | "continue";
  /** An effect in doubt holds the run up until somebody has found out (`wait`, unless set), or ends it. */
  readonly onDoubt?: "wait" | "stop";
  /** While the kill switch is on or a budget has no room: that is a refusal (`stop`, unless set), or the run waits. */
  readonly onHeld?: "stop" | "wait";
  /** In place of the prompts that come with it. */
  readonly system?: string;
  readonly finalSystem?: string;
  readonly maxOutputTokens?: number;
  /** Which agent proposes, as `agent:<name>`; the program's own unless set. */
  readonly agent?: string;
  /** Told about what this run waits for, beside the instance's own listener. */
  readonly notify?: (notice: Notice) => void;
};

/** What the workflow is started with, and what has to be the same when it is asked for again. */
export type SuperviseInput = {
  readonly goal: string;
  readonly limits: RunLimits;
  readonly onRefusal: "stop" | "continue";
  readonly onDoubt: "wait" | "stop";
  readonly onHeld: "stop" | "wait";
};

const FIELDS = [
  "goal",
  "tools",
  "model",
  "policy",
  "id",
  "name",
  "limits",
  "onRefusal",
  "onDoubt",
  "onHeld",
  "system",
  "finalSystem",
  "maxOutputTokens",
  "agent",
  "notify",
];

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && value.isWellFormed();
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;
const isOptional = (fits: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || fits(value);
const isOneOf =
  (...words: readonly string[]) =>
  (value: unknown): boolean =>
    words.includes(value as string);

const CHECKS: readonly (readonly [keyof SuperviseOptions, (value: unknown) => boolean, string])[] = [
  ["goal", isText, "a text that is not empty"],
  ["tools", Array.isArray, "a list of tools"],
  [
    "model",
    (value) => value !== undefined && value !== null,
    "a model: a name, an address, or an object that proposes",
  ],
  ["id", isOptional(isText), "a text that is not empty"],
  ["name", isOptional(isText), "a text that is not empty"],
  ["notify", isOptional((value) => typeof value === "function"), "a function"],
  ["onRefusal", isOptional(isOneOf("stop", "continue")), "stop or continue"],
  ["onDoubt", isOptional(isOneOf("wait", "stop")), "wait or stop"],
  ["onHeld", isOptional(isOneOf("stop", "wait")), "stop or wait"],
  ["system", isOptional(isText), "a text that is not empty"],
  ["finalSystem", isOptional(isText), "a text that is not empty"],
  ["maxOutputTokens", isOptional(isWhole), "a whole number of at least 1"],
  ["agent", isOptional((who) => isPrincipal(who) && String(who).startsWith("agent:")), "agent:<name>"],
];

function toolNameIn(tool: SupervisedTool): string {
  return typeof tool === "function" ? tool.toolName : tool?.name;
}

/** A limit of a tool that the run does not have limits nothing: it was probably meant for another. */
function checkToolLimits(given: RunLimits["tools"], tools: readonly SupervisedTool[]): void {
  if (given === undefined) return;
  const names = tools.map(toolNameIn);
  for (const [name, limit] of Object.entries(checkFields("limits.tools", given, names))) {
    const { calls = 1, repeats = 1 } = checkFields(`limits.tools.${name}`, limit, ["calls", "repeats"]);
    if (!isWhole(calls) || !isWhole(repeats))
      rejectInput(`limits.tools.${name} has calls and repeats, whole numbers of at least 1.`);
  }
}

function checkLimits(limits: Omit<RunLimits, "tools">): void {
  for (const field of ["steps", "toolCalls"] as const)
    if (!isWhole(limits[field]))
      rejectInput(`limits.${field} is a whole number of at least 1, not ${displayValue(limits[field])}.`);
  if (!(typeof limits.seconds === "number" && limits.seconds > 0 && Number.isFinite(limits.seconds)))
    rejectInput(`limits.seconds is a number over 0, not ${displayValue(limits.seconds)}.`);
}

/** Misuse is said before anything is looked at. */
export function checkSuperviseOptions(options: SuperviseOptions): void {
  checkFields("What hp.supervise takes", options, FIELDS);
  for (const [field, fits, is] of CHECKS)
    if (!fits(options[field])) rejectInput(`hp.supervise takes ${is} as ${field}.`);
  const { policy, limits = {}, tools } = options;
  if (policy !== undefined && !isPolicyDocument(policy)) checkPolicy("supervised run", policy);
  checkLimits({
    ...DEFAULT_RUN_LIMITS,
    ...checkFields("What limits a run", limits, [...Object.keys(DEFAULT_RUN_LIMITS), "tools"]),
  });
  checkToolLimits(limits.tools, tools);
}

/** A document's limits stand where the program says nothing, and are never passed by what it says. */
function limitsOf(given: Partial<RunLimits>, document: DocumentLimits): RunLimits {
  const limit = (field: keyof typeof DEFAULT_RUN_LIMITS): number => {
    const most = document[field] ?? Number.POSITIVE_INFINITY;
    return Math.min(given[field] ?? document[field] ?? DEFAULT_RUN_LIMITS[field], most);
  };
  const { tools } = given;
  const whole = { steps: limit("steps"), toolCalls: limit("toolCalls"), seconds: limit("seconds") };
  return tools === undefined ? whole : { ...whole, tools: structuredClone(tools) };
}

export function superviseInput(options: SuperviseOptions, document: DocumentLimits): SuperviseInput {
  const { goal, limits = {}, onRefusal = "stop", onDoubt = "wait", onHeld = "stop" } = options;
  return { goal, limits: limitsOf(limits, document), onRefusal, onDoubt, onHeld };
}
