import type { Json } from "../kernel/json.ts";
import type { Money } from "../kernel/money.ts";

import type { PolicyInput, Verdict } from "./verdict.ts";

/**
 * What a tool promises about its effect, and so what may be done after a crash between start and outcome:
 * read, idempotent → run again; keyed → send again with the same key; probed → ask; transactional → nothing to do;
 * once → in doubt, to a person.
 */
export const EFFECT_CLASSES = ["read", "idempotent", "keyed", "probed", "transactional", "once"] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

export type Cost = { readonly budget: string; readonly amount: Money };
export type Dedupe = { readonly key: string; readonly windowMs: number };

/** One thing that does not fit, and where. */
export type Issue = { readonly path: readonly (string | number)[]; readonly message: string };

export type Validation =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly issues: string;
      /** Each by itself, as far as the schema's library says. */
      readonly each?: readonly Issue[];
    };

/** A tool as the rules see it: facts, and pure synchronous functions of its author. */
export type ToolRules = {
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly schemaDigest: string;
  /** The input schema as JSON Schema text, where its library can say it; its SHA-256 is then `schemaDigest`. */
  readonly schemaText: string | null;
  readonly policyDigest: string;
  /** Digests of the policy documents that are asked, each once; none where only code decides. */
  readonly documents?: readonly string[];
  /** How long the receiver remembers our key (class keyed). */
  readonly keyRetentionMs: number;
  /** How long after the last possible send "not applied" may still turn out wrong (class probed). */
  readonly finalityMs: number;
  validate(args: Json): Validation;
  policy(input: PolicyInput): Verdict;
  /** It shows what it would do before it does it. */
  readonly hasPreview?: boolean;
  costs(args: Json): readonly Cost[];
  dedupe(args: Json): Dedupe | undefined;
};
