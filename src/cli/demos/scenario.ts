/** What a demo is made of: an agent with a mistake in it, its tools, and what a reviewer makes of its plan. */

import type { Answer, Holdpoint } from "../../index.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Workflow } from "../../workflows/definition.ts";

export type Choice =
  | { readonly kind: "approve"; readonly note: string }
  | { readonly kind: "modify"; readonly edit: JsonObject; readonly note: string }
  | { readonly kind: "reject"; readonly reason: string; readonly final: boolean };

/** What came of it: in money where the story has a figure, and in words. */
export type Outcome = { readonly costUsd: number | null; readonly told: string };

export type Scene = {
  /** People are asked at the checkpoint. */
  readonly supervised: boolean;
  /** What happens outside, told as it happens. */
  readonly say: (text: string) => void;
};

export type Scenario = {
  readonly name: string;
  readonly title: string;
  readonly task: string;
  /** What the agent gets wrong. */
  readonly mistake: string;
  readonly input: JsonObject;
  readonly define: (hp: Holdpoint, scene: Scene) => Workflow<Json, Outcome>;
  /** What the reviewer does at the first, second … time of being asked. */
  readonly corrects: readonly Choice[];
  readonly rejects: Choice;
  /** For the person who plays the reviewer. */
  readonly hint: string;
};

/** What a call brought, or an error that ends the workflow: after a person's word there may be no result. */
export function resultOf<Result>(answer: Answer<Result>): Result {
  if (answer.executed !== true) throw new Error(answer.reason);
  if (answer.result === null) throw new Error("It was done, and nobody knows with what result.");
  return answer.result;
}

export const usd = (amount: number): string => `${amount.toLocaleString("en-US")} USD`;

export const workflowNameOf = (name: string, supervised: boolean): string =>
  supervised ? `demo.${name}` : `demo.${name}.unsupervised`;
