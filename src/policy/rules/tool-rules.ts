/**
 * A tool as the rules see it (facts and pure functions of its author), what a process with the tool contributes to a
 * decision (`Executor`), and what rules require it to load first (`Load`).
 */

import type { Json } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";
import type { PolicyInput, Verdict } from "./verdict.ts";

/**
 * What a tool guarantees about its effect, and so how to recover from a crash between start and outcome: read,
 * idempotent → run again; keyed → send again with the same key; probed → query the outcome; transactional → nothing to
 * do; once → in doubt, a person decides.
 */
export const EFFECT_CLASSES = ["read", "idempotent", "keyed", "probed", "transactional", "once"] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

export type Cost = { readonly budget: string; readonly amount: Money };
export type Dedupe = { readonly key: string; readonly windowMs: number };

/** One validation fault and its position. */
export type Issue = { readonly path: readonly (string | number)[]; readonly message: string };

export type Validation =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly issues: string;
      /** Single issues, if the schema's library reports them. */
      readonly each?: readonly Issue[];
    };

/** A tool as the rules see it: facts, and pure synchronous functions of its author. */
export type ToolRules = {
  readonly name: string;
  readonly effectClass: EffectClass;
  /** Template of the title that people see; absent if the tool has none. */
  readonly title?: string;
  readonly schemaDigest: string;
  /** The input schema as JSON Schema text, if its library can produce it. `schemaDigest` is then its SHA-256. */
  readonly schemaText: string | null;
  readonly policyDigest: string;
  /** Distinct digests of the policy documents that judge the tool; none if only code decides. */
  readonly documents?: readonly string[];
  /** How long the receiver remembers the idempotency key (class keyed). */
  readonly keyRetentionMs: number;
  /** How long after the last possible send "not applied" may still turn out wrong (class probed). */
  readonly finalityMs: number;
  validate(args: Json): Validation;
  policy(input: PolicyInput): Verdict;
  /** The tool can show what it would do before it runs. */
  readonly hasPreview?: boolean;
  costs(args: Json): readonly Cost[];
  dedupe(args: Json): Dedupe | undefined;
};

/** The tool, large arguments that the process loaded, fresh ids and its own epoch. */
export type Executor = {
  readonly rules: ToolRules;
  /** By key: artifact values by the digest of their canonical JSON; a workflow's history. */
  readonly loaded: ReadonlyMap<string, Json>;
  readonly epoch: string;
  /** The agent executes the call itself and has this long to report the outcome. */
  readonly outside?: { readonly reportWithinMs: number; readonly asker?: PermitAsker };
  readonly ids: { readonly approval: string; readonly nonce: string };
};

/** Who requests a permit. */
export type PermitAsker = {
  /** Digest of the holder; null if the agent sends none. */
  readonly holder: string | null;
  /** The permit is started in the commit that issues it. */
  readonly begin: boolean;
  /** Identifies this request, so that the rules recognise their own writes when they run again. */
  readonly ask: string;
};

/** Data outside the states must be loaded first: large arguments by their digest, a workflow's history, and so on. */
export type Load = {
  readonly kind: "load";
  readonly key: string;
  /** For a preview: its call. */
  readonly preview?: PreviewCall;
};

/** A call as passed to a tool's `preview`. `args` are those that would be executed. */
export type PreviewCall = {
  readonly action: string;
  readonly requestId: string | null;
  readonly agent: string;
  readonly args: Json;
};
