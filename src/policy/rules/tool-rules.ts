/**
 * A tool as the rules see it (facts and pure functions of its author), what a process that has the tool brings to a
 * decision (`Executor`), and what rules ask it to load first (`Load`).
 */

import type { Json } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
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

/** The tool, large arguments that the process loaded, fresh ids and its own epoch. */
export type Executor = {
  readonly rules: ToolRules;
  /** By key: values kept as artifacts, by the digest of their canonical JSON; a workflow's history. */
  readonly loaded: ReadonlyMap<string, Json>;
  readonly epoch: string;
  /** The agent performs it itself, and has so long to report the outcome. */
  readonly outside?: { readonly reportWithinMs: number; readonly asker?: PermitAsker };
  readonly ids: { readonly approval: string; readonly nonce: string };
};

/** Who asks for a permit. */
export type PermitAsker = {
  /** The digest of the holder; null where the agent sends none. */
  readonly holder: string | null;
  /** The permit is begun in the commit that issues it. */
  readonly begin: boolean;
  /** Names this request, so that its rules recognise what they wrote when they run again. */
  readonly ask: string;
};

/** Something that is not in the states has to be loaded first: large arguments, by their digest, a workflow's history and so on. */
export type Load = {
  readonly kind: "load";
  readonly key: string;
  /** For a preview: the call that it is of. */
  readonly preview?: PreviewCall;
};

export function argsOf(
  kept: { readonly args: Json; readonly argsDigest: string },
  loaded: ReadonlyMap<string, Json>,
): Load | { readonly kind: "args"; readonly value: Json } {
  if (!isArtifactRef(kept.args)) return { kind: "args", value: kept.args };
  const value = loaded.get(kept.argsDigest);
  return value === undefined ? { kind: "load", key: kept.argsDigest } : { kind: "args", value };
}

/** A call as a tool's `preview` is told of it; `args` are those that would run. */
export type PreviewCall = {
  readonly action: string;
  readonly requestId: string | null;
  readonly agent: string;
  readonly args: Json;
};
