/**
 * Options of `hp.supervise`, validated before anything else happens, and the run's policy document: a file that is
 * followed for changes, or an object. Each run opens its own document, checked against the tools of that run only.
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

/** A string with a document's file extension is a document. An object with `verdict` is a verdict. */
export function isPolicyDocument(policy: PolicyOption): policy is PolicySource {
  if (typeof policy === "string") return /\.(?:ya?ml|json)$/i.test(policy);
  return typeof policy === "object" && policy !== null && !("verdict" in policy);
}

export type OpenPolicyDocument = {
  readonly document: () => CompiledPolicy;
  /** Call when the run has ended: stops following the document. */
  readonly giveBack: () => Promise<void>;
};

/** Opens a document for one run and checks it against the tools that this run calls, not those of other runs. */
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
    // Resolves once the document's version is in the journal.
    await live.open(runtime);
  } catch (error) {
    await giveBack();
    throw error;
  }
  return { document: () => live.current(), giveBack };
}

export type DocumentLimits = CompiledPolicy["limits"];

/** The lowest value of each limit in the documents that apply to a run. */
export function tightestLimits(all: readonly DocumentLimits[]): DocumentLimits {
  const limits: { -readonly [Field in keyof DocumentLimits]: DocumentLimits[Field] } = {};
  for (const field of ["steps", "toolCalls", "seconds"] as const) {
    const said = all.flatMap((one) => one[field] ?? []);
    if (said.length > 0) limits[field] = Math.min(...said);
  }
  return limits;
}

/** A tool made by `hp.gate`, or a tool definition. */
export type SupervisedTool =
  | GatedTool<never, unknown>
  | { readonly name: string; readonly [field: string]: unknown };

/** A model of the Vercel AI SDK. */
type AiSdkModel = {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
};

/** An OpenAI-compatible chat completions endpoint. Without `baseUrl`: a named or AI SDK model, with call options. */
type ModelAddress = {
  readonly timeoutMs?: number;
  /** Stream the answer. Use it for servers that drop idle connections. */
  readonly stream?: boolean;
} & (
  | { readonly baseUrl: string; readonly model: string; readonly apiKey?: string }
  | { readonly model: string | AiSdkModel }
);

/** `"openai/gpt-4.1-mini"`, `"anthropic/claude-…"`, an endpoint, an AI SDK model, or your own implementation. */
export type ModelChoice = string | ModelAddress | AiSdkModel | Model;

export type SuperviseOptions = {
  readonly goal: string;
  readonly tools: readonly SupervisedTool[];
  readonly model: ModelChoice;
  /**
   * Judges every call and the final answer: a function, a verdict, or a document (an object, or the path of a .yaml,
   * .yml or .json file). The tool's own policy and the instance's document also apply; the strictest verdict wins.
   */
  readonly policy?: Policy<never> | PolicySource;
  /** Request id. The same id returns the same run, also from another process. */
  readonly id?: string;
  /** Workflow name. Default: `supervise`. Agents with different tools need different names. */
  readonly name?: string;
  readonly limits?: Partial<RunLimits>;
  /** A refusal ends the run (`stop`) or is returned to the model (`continue`). Default: `stop`. */
  readonly onRefusal?: "stop" | "continue";
  /** An effect in doubt pauses the run until it is resolved (`wait`), or ends the run (`stop`). Default: `wait`. */
  readonly onDoubt?: "wait" | "stop";
  /** If the kill switch is on or a budget is used up: refuse the call (`stop`) or wait (`wait`). Default: `stop`. */
  readonly onHeld?: "stop" | "wait";
  /** Replaces the built-in system prompt. */
  readonly system?: string;
  readonly finalSystem?: string;
  readonly maxOutputTokens?: number;
  /** The proposing agent, as `agent:<name>`. Default: the program's own agent. */
  readonly agent?: string;
  /** Called when this run starts to wait, in addition to the instance's own listener. */
  readonly notify?: (notice: Notice) => void;
};

/** Input of the workflow. A repeated request with the same id must have the same input. */
export type SuperviseInput = {
  readonly goal: string;
  readonly limits: RunLimits;
  readonly onRefusal: "stop" | "continue";
  readonly onDoubt: "wait" | "stop";
  readonly onHeld: "stop" | "wait";
};

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

const FIELDS = [...CHECKS.map(([field]) => field), "policy", "limits"];

function toolNameIn(tool: SupervisedTool): string {
  return typeof tool === "function" ? tool.toolName : tool?.name;
}

/** Rejects a limit for a tool that the run does not have: it would limit nothing and is probably a mistake. */
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

/** A document's limit is the default where the program sets none, and an upper bound where it does. */
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
