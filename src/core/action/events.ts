/** Every fact that an action's stream can hold. Past tense; bodies are what the journal stores. */

import type { UndoRecord, Versions } from "../../approvals/state.ts";
import type { Json } from "../../kernel/json.ts";
import type { MoneyJson } from "../../kernel/money.ts";
import type { Via } from "../../kernel/principal.ts";
import type { Refusal } from "../../kernel/refusals.ts";

import type { EffectClass } from "../../policy/rules/tool-rules.ts";
import type { LimitBehind, Risk, RunLimitOf, ShadowVerdict } from "../../policy/rules/verdict.ts";

import type { Within } from "./within.ts";

/** Where the arguments that ran came from. */
export type ExecutedFrom = "original" | "supervisor_revised" | "human_revised";

/** What permitted an effect to start: a verdict of the policy, an approval by people, or what a person had granted before. */
export type Grant =
  | { readonly kind: "verdict"; readonly rule: string; readonly policy: string; readonly nonce: string }
  | {
      readonly kind: "approval";
      readonly approval: string;
      readonly by: readonly string[];
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "standing";
      readonly grant: string;
      /** Its owner. */
      readonly by: readonly string[];
      /** What this use comes to; null where the grant has no limit. */
      readonly amount: MoneyJson | null;
      readonly nonce: string;
    };

export type ReservedCost = MoneyJson & { readonly budget: string };

/** What the policy of a digest said. */
export type ReviewFacts = Versions & {
  readonly verdict: "approve" | "block" | "escalate";
  readonly rule: string;
  readonly reason: string;
  /** It was blocked by a limit of the supervised run itself, and by no policy. */
  readonly limitOf?: RunLimitOf;
  /** A policy blocked it, and a limit of the supervised run would have. */
  readonly limitBehind?: LimitBehind;
  /** Only of older entries: one of the documents, where code was asked beside it. */
  readonly document?: string;
  /** The highest, where several policies score; absent where none does. */
  readonly risk?: Risk;
  /** All of them, where several score. */
  readonly risks?: readonly Risk[];
  /** What rules on trial would have said; absent where none matched. */
  readonly shadow?: readonly ShadowVerdict[];
  /** What the tool says that it will cost, where people are asked; absent where it costs no budget. */
  readonly costs?: readonly ReservedCost[];
};

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

export type ActionEvent =
  | Fact<
      "action.proposed",
      {
        readonly requestId: string | null;
        readonly tool: string;
        readonly effectClass: EffectClass;
        readonly schema: string;
        readonly args: Json;
        readonly argsDigest: string;
        readonly givenDigest: string;
        readonly agent: string;
        readonly requester: readonly string[];
        readonly says: string | null;
        readonly within?: Within;
        /** The agent performs it itself. */
        readonly outside?: true;
        /** How it says that it would take it back. */
        readonly undo?: UndoRecord;
      }
    >
  | Fact<
      "action.revised",
      {
        readonly by: string;
        readonly args: Json;
        readonly argsDigest: string;
        readonly reason: string;
        readonly rule: string;
      }
    >
  | Fact<"action.reviewed", ReviewFacts & { readonly approval: string | null }>
  | Fact<"action.held", Refusal>
  | Fact<"action.refused", Refusal>
  | Fact<"action.conflicted", { readonly tool: string; readonly argsDigest: string; readonly by: string }>
  | Fact<
      "effect.started",
      {
        readonly effect: string;
        /** Who holds it: the epoch of a process, or the agent that performs it itself. */
        readonly epoch: string;
        readonly binding: string;
        readonly grant: Grant;
        readonly executeBy: number | null;
        readonly costs: readonly ReservedCost[];
        /** By when the agent has to say what became of it; absent where a process performs it. */
        readonly reportBy?: number;
        /** Of a permit: the digest of the holder that it was issued to. Absent where the agent sent none: then it is begun at once. */
        readonly holder?: string;
        /** Of a permit: the request that it answers. */
        readonly ask?: string;
      }
    >
  /** The holder of a permit performs it from here on. */
  | Fact<"effect.begun", { readonly holder: string; readonly ask: string }>
  /** A permit that was begun was handed out again, for the `times`-th time. `holder`: digest of who asked, where it has one. */
  | Fact<"effect.handed_out", { readonly times: number; readonly holder?: string; readonly ask: string }>
  | Fact<"effect.retried", { readonly epoch: string; readonly reason: string }>
  | Fact<
      "effect.applied",
      {
        readonly epoch: string;
        readonly attempt: number;
        readonly result: Json;
        readonly resultDigest: string;
      }
    >
  | Fact<"effect.not_applied", { readonly epoch: string; readonly attempt: number; readonly reason: string }>
  | Fact<
      "effect.in_doubt",
      {
        readonly attempt: number;
        readonly reason: string;
        /** What put it in doubt, where that was not whoever holds it. */
        readonly by?: string;
      }
    >
  | Fact<"effect.probed", { readonly answer: "not_applied" | "unknown"; readonly evidence: Json }>
  | Fact<
      "effect.resolved",
      {
        readonly status: "applied" | "not_applied";
        readonly by: string;
        readonly reason: string;
        readonly result: Json;
        readonly resultDigest: string | null;
        readonly evidence: Json;
      } & Via
    >
  | Fact<
      "effect.reported_late",
      {
        readonly epoch: string;
        readonly attempt: number;
        readonly status: "applied" | "not_applied" | "in_doubt";
        readonly reason: string;
        /** What an agent said that it gave. */
        readonly result?: Json;
        readonly resultDigest?: string | null;
      }
    >;

export type ActionEventOf<Type extends ActionEvent["type"]> = Extract<ActionEvent, { type: Type }>;
