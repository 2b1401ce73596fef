/** What a program left waiting, as it says itself. */
import type { SavedSeal } from "../../src/verify.ts";

type Flow = { readonly id: string; readonly approval: string; readonly booking: string };

/** What a writer says that it left. */
export type Left = {
  readonly identities: {
    readonly cookie: string;
    readonly key: string;
    /** A comment that was sent under an idempotency key, and its answer. */
    readonly path: string;
    readonly comment: object;
    readonly answered: string;
  };
  readonly approvals: Readonly<
    Record<"pending" | "approved" | "modified" | "large" | "quorum" | "staged", string>
  >;
  readonly effects: { readonly effect: string; readonly grant: string };
  readonly outside: {
    readonly permit: string;
    readonly asked: { readonly action: string; readonly approval: string };
    readonly held: string;
    readonly intents: {
      readonly task: string;
      readonly known: string;
      readonly asked: { readonly id: string; readonly approval: string };
    };
    readonly workflows: { readonly waiting: Flow; readonly rejected: Flow };
  };
  readonly errands: readonly string[];
  readonly messages: {
    readonly endpoint: string;
    readonly told: string;
    readonly message: string;
    readonly alert: string;
  };
  readonly acme: string;
  /** The rest is of writers after 0.1.0. */
  readonly ruled?: string;
  readonly more?: More;
  /** When it had left everything. */
  readonly at?: number;
};

export type More = {
  readonly approvals: Readonly<Record<"delegated" | "expired", string>>;
  readonly permits: Readonly<Record<"holder" | "issued" | "begun" | "doubtful", string>> & {
    readonly undo: { readonly workflow: string; readonly action: string };
  };
  readonly workflows: {
    readonly awaiting: { readonly id: string; readonly intent: string };
    readonly undoing: { readonly id: string; readonly approval: string };
  };
  readonly identities: {
    /** A login link that is not used yet. */
    readonly link: string;
    /** A proposal that was sent under an idempotency key, and what people were asked about it. */
    readonly proposal: { readonly body: object; readonly approval: string };
  };
  /** A message that its receiver has not answered yet. */
  readonly messages: { readonly endpoint: string; readonly message: string };
  /** By tenant. */
  readonly seals: Readonly<Record<"default" | "acme" | "ruled", SavedSeal>>;
};
