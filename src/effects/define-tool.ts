/** Tool definitions: the options that users write, their validation, and the `Tool` built from them. */

import { titleFault } from "../approvals/rules/title.ts";
import { canonicalJson, digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { checkFields, fieldFault, isPlainObject, rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { isMoney, moneyFault } from "../kernel/money.ts";
import { displayValue, errorText } from "../kernel/text.ts";
import { notAVerdictReason, readVerdict } from "../policy/rules/review.ts";
import { type ApprovalTerms, approvalTerms, whyUnmeetable } from "../policy/rules/stages.ts";
import { type Cost, EFFECT_CLASSES, type EffectClass } from "../policy/rules/tool-rules.ts";
import type { PolicyInput, Verdict } from "../policy/rules/verdict.ts";
import { ignoreRejection } from "../runtime/concurrency.ts";
import { handlesIn, reservedKey } from "../runtime/secrets.ts";
import type { SqlTransaction } from "../stores/store.ts";
import { argsSchema, type InputSchema, schemaRules } from "./arguments.ts";
import {
  type CheckFrame,
  type CheckPart,
  checkFrame,
  type InstanceKey,
  insideFunction,
  insideSync,
} from "./call-context.ts";
import type { ProbeAnswer } from "./rules/outcome.ts";
import type { PreviewContext, ProbeContext, Tool, ToolContext } from "./tool.ts";

/** `"approve"`, `"escalate"`, `"block"`, a verdict, or a pure synchronous function that returns one of these. */
export type Policy<Args> =
  | "approve"
  | "escalate"
  | "block"
  | Verdict
  | ((
      call: Omit<PolicyInput, "args"> & { readonly args: Args },
    ) => "approve" | "escalate" | "block" | Verdict);

export type ToolDefinition<Args, Result> = {
  /** Unique name, such as `payments.refund`. */
  readonly name: string;
  /** What the tool does, in one sentence. Shown to models that may propose it. */
  readonly description?: string;
  /**
   * One line for people, such as `Refund {amount_usd} to {customer}`: `{a.b}` is a field of the arguments, `{{` a brace.
   * Default: the name and two of the arguments.
   */
  readonly title?: string;
  /** Any Standard Schema (zod, valibot, arktype …). Default: arguments are only checked to be JSON. */
  readonly input?: InputSchema<Args>;
  /** Change it when the schema changes in a way that its library cannot express as JSON Schema. */
  readonly version?: string;
  /** What the tool promises about repeating it. Default: `once`, which promises nothing. */
  readonly effect?: EffectClass;
  /** Decides about each call. Default: `escalate` (a person must approve). */
  readonly policy?: Policy<Args>;
  /** Change it when the policy function behaves differently but its source text is the same. */
  readonly policyVersion?: string;
  /** Class `keyed`: how long the receiver remembers the idempotency key. Default: 24 hours. */
  readonly keyRetentionMs?: number;
  /** Class `probed`: how long a "not applied" may still turn out wrong. Default: 0. */
  readonly finalityMs?: number;
  /** Timeout of one attempt. The effect is then in doubt, or sent again if its class allows. Default: none. */
  readonly timeoutMs?: number;
  /** Maximum number of attempts, for classes that may be repeated. Default: 3. */
  readonly attempts?: number;
  /** Maximum cost by budget, reserved before the effect starts. */
  readonly cost?: (args: Args) => Cost | readonly Cost[];
  /** Business identity. The same text within `dedupeWindowMs` (default: 1 hour) is a duplicate under any request id. */
  readonly dedupe?: (args: Args) => string;
  readonly dedupeWindowMs?: number;
  /** Returns true for errors that prove that nothing was applied, such as a refused connection or HTTP 400. */
  readonly isDefinite?: (error: unknown) => boolean;
  /** Class `probed`: queries the receiver for the outcome of an effect. */
  readonly verify?: (effect: ProbeContext & { readonly args: Args }) => ProbeResult | Promise<ProbeResult>;
  /**
   * What the call would do, such as a diff or the resolved targets. People see it and approve it. It is computed again
   * before the start. It must have no side effects, and must return the same value until something changes.
   */
  readonly preview?: (args: Args, context: PreviewContext) => unknown;
  /**
   * Undoes an applied effect when its workflow rolls back past it: a compensation, run once, newest first. `"nothing"`:
   * there is nothing to undo. Default: the effect is irreversible, except for class `read`.
   */
  readonly undo?: Undo<Args, Result> | UndoRule<Args, Result> | "nothing";
} & (
  | {
      readonly effect?: Exclude<EffectClass, "transactional">;
      readonly run: (args: Args, context: ToolContext) => Result | Promise<Result>;
    }
  | {
      readonly effect: "transactional";
      readonly runInTransaction: (args: Args, sql: SqlTransaction, context: ToolContext) => Result;
    }
);

export type Undo<Args, Result> = (args: Args, result: Result, context: ToolContext) => unknown;
export type UndoRule<Args, Result> = {
  readonly run: Undo<Args, Result>;
  /** What the undo promises about repeating it. Default: the tool's class if `idempotent` or `keyed`, else `once`. */
  readonly effect?: "idempotent" | "keyed" | "once";
  /** Decides about the undo. Default: `approve`. */
  readonly policy?: Policy<{ readonly args: Args; readonly result: Result }>;
  readonly timeoutMs?: number;
};

export type ProbeResult = {
  readonly answer: "applied" | "not_applied" | "unknown";
  readonly evidence?: unknown;
  readonly result?: unknown;
};

const HOUR_MS = 3_600_000;
const NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;

type Fields = { readonly [field: string]: unknown };

const TEXTS = ["description", "version", "policyVersion"];
const FUNCTIONS = ["cost", "dedupe", "isDefinite", "verify", "preview", "run", "runInTransaction"];
/** The least value of each number. */
const NUMBERS = { keyRetentionMs: 0, finalityMs: 0, timeoutMs: 1, attempts: 1, dedupeWindowMs: 0 } as const;
const CHECKED_APART = ["name", "title", "input", "effect", "policy", "undo"];
const FIELDS = [...CHECKED_APART, ...TEXTS, ...Object.keys(NUMBERS), ...FUNCTIONS];
const UNDO_FIELDS = ["run", "effect", "policy", "timeoutMs"];
const UNDO_EFFECTS: readonly unknown[] = ["idempotent", "keyed", "once"];

/** Every field that is there holds what its kind says. */
function checkKinds(name: string, definition: Fields): void {
  const there = (fields: readonly string[]) => fields.filter((field) => definition[field] !== undefined);
  const isText = (value: unknown) => typeof value === "string" && value.isWellFormed();
  const notText = there(TEXTS).find((field) => !isText(definition[field]));
  if (notText !== undefined) rejectInput(`The tool "${name}" has a ${notText} that is not a text.`);
  const notFunction = there(FUNCTIONS).find((field) => typeof definition[field] !== "function");
  if (notFunction !== undefined)
    rejectInput(`The tool "${name}" has a ${notFunction} that is not a function.`);
  for (const [field, least] of Object.entries(NUMBERS)) {
    const { [field]: value = least } = definition;
    if (!(Number.isSafeInteger(value) && (value as number) >= least))
      rejectInput(
        `The tool "${name}" has ${field}: ${displayValue(value)}; a whole number of at least ${least} is needed.`,
      );
  }
}

function checkShape(definition: ToolDefinition<never, unknown>): void {
  if (!isPlainObject(definition)) rejectInput("A tool is declared with an object: { name, run, … }.");
  const { name } = definition;
  if (typeof name !== "string" || !NAME.test(name))
    rejectInput(
      `"${displayValue(name)}" is not a tool's name: letters, digits and . _ : - after a first letter, at most 128.`,
    );
  checkFields(`The tool "${name}"`, definition, FIELDS);
  checkKinds(name, definition as Fields);
}

function checkTitle({ name, title, input }: ToolDefinition<never, unknown>): void {
  if (title === undefined) return;
  const fault = titleFault(title, argsSchema(input));
  if (fault !== undefined) rejectInput(`The tool "${name}" has a title ${fault}.`);
}

function check(definition: ToolDefinition<never, unknown>): void {
  checkShape(definition);
  const { name, effect = "once" } = definition;
  if (!EFFECT_CLASSES.includes(effect))
    rejectInput(
      `The tool "${name}" has the effect class "${displayValue(effect)}"; it is one of ${EFFECT_CLASSES.join(", ")}.`,
    );
  const field = effect === "transactional" ? "runInTransaction" : "run";
  if ((definition as Fields)[field] === undefined)
    rejectInput(`The tool "${name}" has no ${field} function.`);
  if (effect === "probed" && definition.verify === undefined)
    rejectInput(`The tool "${name}" is probed and has no verify function.`);
  checkTitle(definition);
}

/** A revision may contain handles from the policy's author or from the action, but none written as JSON. */
export function checkRevision(verdict: Verdict, own: ReadonlySet<string>): Verdict {
  const key = verdict?.verdict === "revise" ? reservedKey(verdict.set, own) : undefined;
  if (key !== undefined) throw new TypeError(`the revision has the key "${key}", which is Holdpoint's own`);
  return verdict;
}

/**
 * Turns the answer of a policy function into a verdict. An invalid answer becomes a block that names the fault. `whose`
 * is part of the reason.
 */
export function verdictIn(said: unknown, whose: string, own: ReadonlySet<string>): Verdict {
  if (said === "approve" || said === "escalate") return { verdict: said };
  if (said === "block") return { verdict: "block", reason: `${whose} blocks it` };
  const verdict = readVerdict(said);
  if (typeof verdict === "string") return notAVerdictReason(verdict, whose);
  // Handles are recognized by the object that `secret()` made, so check the original.
  checkRevision(said as Verdict, own);
  return verdict;
}

/** Like `readVerdict`, but also reports a value that cannot be read as JSON. */
function readWritten(policy: unknown): Verdict | string {
  try {
    return readVerdict(policy);
  } catch (error) {
    return (isHoldpointError(error) ? error.what : errorText(error)).replace(/\.$/, "");
  }
}

/** Rejects a fixed verdict that is invalid or can never be met, when it is written. */
export function checkPolicy(whose: string, policy: Policy<never>): void {
  if (typeof policy === "function" || policy === "approve" || policy === "escalate" || policy === "block")
    return;
  const verdict = readWritten(policy);
  if (typeof verdict === "string")
    rejectInput(`The policy of the ${whose} is not a verdict or a function: ${verdict}.`);
  if (verdict.verdict !== "escalate") return;
  const fault = whyUnmeetable(approvalTerms(verdict) as ApprovalTerms, []);
  if (fault !== undefined)
    throw new HoldpointError("unsatisfiable_quorum", `The policy of the ${whose} cannot be met: ${fault}.`);
}

function policyDigest(policy: Policy<never>, version: string | undefined): string {
  const source = typeof policy === "function" ? { source: policy.toString() } : { verdict: policy };
  return digestOf({ ...source, version: version ?? null });
}

const COST_FIELDS = ["budget", "amount"];

function costList(given: Cost | readonly Cost[]): readonly Cost[] {
  const list = Array.isArray(given) ? (given as readonly Cost[]) : [given as Cost];
  for (const cost of list) {
    const { budget, amount } = cost;
    const fault = fieldFault("a cost", cost, COST_FIELDS) ?? moneyFault("the amount of a cost", amount);
    if (fault !== undefined) throw new TypeError(fault);
    if (typeof budget !== "string" || !isMoney(amount))
      throw new TypeError("a cost is { budget, amount: { currency, micros } } with whole micros");
  }
  return list;
}

/** Rejects a missing identity: all calls without one would be duplicates of each other. */
function dedupeKey(key: unknown): string {
  if (typeof key === "string" && key !== "" && key.length <= 1_000 && key.isWellFormed()) return key;
  throw new TypeError("a dedupe key is a text of 1 to 1000 characters");
}

/** Each call gets its own copy of the arguments, so that an author's function cannot change ours. */
const fresh = (args: Json): Json => JSON.parse(canonicalJson(args)) as Json;

function checkUndo(name: string, rule: UndoRule<Json, unknown>): void {
  const whose = `The undo of the tool "${name}"`;
  if (!isPlainObject(rule)) rejectInput(`${whose} is not a function, { run } or "nothing".`);
  const { run, effect = "once" } = checkFields(whose, rule, UNDO_FIELDS);
  if (typeof run !== "function") rejectInput(`${whose} is not a function, { run } or "nothing".`);
  if (!UNDO_EFFECTS.includes(effect))
    rejectInput(
      `${whose} has the effect class "${displayValue(effect)}"; it is one of ${UNDO_EFFECTS.join(", ")}.`,
    );
}

function undoOf(
  definition: ToolDefinition<Json, unknown>,
  instance: InstanceKey | null,
): Tool | "nothing" | null {
  const { name, effect = "once", undo } = definition;
  if (undo === undefined) return effect === "read" ? "nothing" : null;
  if (undo === "nothing") return "nothing";
  const rule = typeof undo === "function" ? { run: undo } : undo;
  checkUndo(name, rule);
  const promised = effect === "idempotent" || effect === "keyed" ? effect : "once";
  type Taken = { readonly args: Json; readonly result: unknown };
  const taken: ToolDefinition<Taken, unknown> = {
    name: `${name.slice(0, 123)}.undo`,
    effect: rule.effect ?? promised,
    policy: (rule.policy ?? "approve") as Policy<Taken>,
    ...(definition.keyRetentionMs === undefined ? {} : { keyRetentionMs: definition.keyRetentionMs }),
    ...(rule.timeoutMs === undefined ? {} : { timeoutMs: rule.timeoutMs }),
    isDefinite: (error) => definition.isDefinite?.(error) === true,
    undo: "nothing",
    run: ({ args, result }, context) => rule.run(args, result, context),
  };
  return defineTool(taken, instance);
}

type CheckIn = (part: CheckPart) => CheckFrame;

function makePreview({ preview }: ToolDefinition<Json, unknown>, checkIn: CheckIn): Tool["preview"] {
  if (preview === undefined) return null;
  return (args, context) => insideFunction(checkIn("preview"), async () => preview(args, context));
}

function makeVerify({ verify }: ToolDefinition<Json, unknown>, checkIn: CheckIn): Tool["verify"] {
  if (verify === undefined) return null;
  return async (context) => {
    const given = { ...context, args: fresh(context.args) };
    const said = await insideFunction(checkIn("verify"), async () => verify(given));
    return { evidence: null, result: null, ...said } as ProbeAnswer;
  };
}

/** `instance` is for `hp.current()` in the functions that check a call. null: the tool has no instance. */
export function defineTool<Args, Result>(
  given: ToolDefinition<Args, Result>,
  instance: InstanceKey | null = null,
): Tool {
  check(given as unknown as ToolDefinition<never, unknown>);
  // The user's functions are typed by Args; the rules pass them JSON that the schema accepted.
  const definition = given as unknown as ToolDefinition<Json, unknown>;
  const { name, effect = "once", policy = "escalate" } = definition;
  checkPolicy(`tool "${name}"`, policy as unknown as Policy<never>);
  const { cost, dedupe } = definition;
  const windowMs = definition.dedupeWindowMs ?? HOUR_MS;
  const checkIn: CheckIn = (part) => checkFrame(instance, name, part);
  return {
    rules: {
      name,
      effectClass: effect,
      ...(definition.title === undefined ? {} : { title: definition.title }),
      ...schemaRules(definition.input, definition.version),
      policyDigest: policyDigest(policy as unknown as Policy<never>, definition.policyVersion),
      keyRetentionMs: definition.keyRetentionMs ?? 24 * HOUR_MS,
      finalityMs: definition.finalityMs ?? 0,
      policy: (input) => {
        const own = handlesIn(input.args);
        const said =
          typeof policy === "function"
            ? insideSync(checkIn("policy"), () => ignoreRejection(policy(input)))
            : policy;
        return verdictIn(said, `the policy of ${name}`, own);
      },
      hasPreview: definition.preview !== undefined,
      costs: (args) =>
        cost === undefined
          ? []
          : insideSync(checkIn("cost"), () => costList(ignoreRejection(cost(fresh(args))))),
      dedupe: (args) =>
        dedupe === undefined
          ? undefined
          : {
              key: insideSync(checkIn("dedupe"), () => dedupeKey(ignoreRejection(dedupe(fresh(args))))),
              windowMs,
            },
    },
    description: definition.description ?? "",
    isUndecided: definition.policy === undefined,
    attempts: definition.attempts ?? 3,
    undo: undoOf(definition, instance),
    timeoutMs: definition.timeoutMs ?? null,
    run: "run" in definition ? definition.run : () => undefined,
    runInTransaction: "runInTransaction" in definition ? definition.runInTransaction : null,
    hasCosts: cost !== undefined,
    preview: makePreview(definition, checkIn),
    isDefinite: (error) =>
      insideSync(checkIn("isDefinite"), () => ignoreRejection(definition.isDefinite?.(error)) === true),
    verify: makeVerify(definition, checkIn),
  };
}
