/**
 * Parts of a demo (an agent with a mistake, its tools, a reviewer's choices), and how it is played: a real workflow on
 * a real store, and a reviewer who is asked at its checkpoint.
 */

import { admin } from "../../src/admin.ts";
import type { Answer } from "../../src/effects/answer.ts";
import { type Holdpoint, holdpoint } from "../../src/index.ts";
import type { Report } from "../../src/journal/verify.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import type { Workflow, WorkflowResult } from "../../src/workflows/definition.ts";
import type { WorkflowEntry } from "../../src/workflows/rules/operations.ts";

export type Choice =
  | { readonly kind: "approve"; readonly note: string }
  | { readonly kind: "modify"; readonly edit: JsonObject; readonly note: string }
  | { readonly kind: "reject"; readonly reason: string; readonly final: boolean };

/** The outcome: in money if the story has a figure, and in words. */
export type Outcome = { readonly costUsd: number | null; readonly told: string };

type Scene = {
  /** People are asked at the checkpoint. */
  readonly supervised: boolean;
  /** Called with each external effect as it happens. */
  readonly say: (text: string) => void;
};

export type Scenario = {
  readonly name: string;
  readonly title: string;
  readonly task: string;
  /** The agent's mistake. */
  readonly mistake: string;
  readonly input: JsonObject;
  readonly define: (hp: Holdpoint, scene: Scene) => Workflow<Json, Outcome>;
  /** The reviewer's choices at the first, second … request. */
  readonly corrects: readonly Choice[];
  readonly rejects: Choice;
  /** For the person who plays the reviewer. */
  readonly hint: string;
};

/** Result of a call, or an error that ends the workflow: an effect that a person resolved may have no result. */
export function resultOf<Result>(answer: Answer<Result>): Result {
  if (answer.status !== "done") throw new Error(answer.reason);
  if (answer.result === null) throw new Error("It was done, and nobody knows with what result.");
  return answer.result;
}

export const usd = (amount: number): string => `${amount.toLocaleString("en-US")} USD`;

export const workflowNameOf = (name: string, supervised: boolean): string =>
  supervised ? `demo.${name}` : `demo.${name}.unsupervised`;

export type Question = {
  readonly approval: string;
  readonly checkpoint: string;
  readonly agent: string;
  readonly says: string;
  readonly outputs: JsonObject;
  readonly confidence: number | null;
  /** Tools whose effects a rejection undoes, newest first. */
  readonly takenBack: readonly string[];
  readonly irreversible: readonly string[];
  readonly attempt: number;
};

export type Reviewer = {
  readonly by: string;
  decide(question: Question): Promise<Choice>;
};

export type Stage = {
  readonly store: { readonly folder: string; readonly keyFile?: string } | { readonly database: string };
  readonly scenario: Scenario;
  /** null: the demo runs without supervision. */
  readonly reviewer: Reviewer | null;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
};

export type Played = {
  readonly workflow: string;
  readonly result: WorkflowResult<Outcome>;
  readonly entries: readonly WorkflowEntry[];
  readonly report: Report;
};

async function questionOf(
  hp: Holdpoint,
  workflow: string,
  past: readonly WorkflowEntry[],
): Promise<Question> {
  const { pending, attempt, agent } = await hp.workflows.get(workflow);
  if (pending === null) throw new Error("somebody else has decided");
  const { rationale, args } = await hp.approvals.get(pending.approval);
  const { approval_interface: shown } = (await hp.workflows.snapshot(workflow, pending.op)) as {
    approval_interface?: { confidence?: number };
  };
  const back = past.findLastIndex(({ type }) => type === "rollback.ended");
  const done = past.slice(back + 1).filter(({ type }) => type === "call.made");
  const irreversible = pending.irreversible.map(({ tool }) => tool);
  const takenBack = done
    .map(({ body }) => String(body["tool"]))
    .filter((tool) => !irreversible.includes(tool));
  return {
    approval: pending.approval,
    checkpoint: pending.name,
    agent,
    says: rationale ?? "",
    outputs: args as JsonObject,
    confidence: shown?.confidence ?? null,
    takenBack: takenBack.reverse(),
    irreversible,
    attempt,
  };
}

/** Omits an empty note. */
const noted = (note: string) => (note === "" ? {} : { note });

async function vote(hp: Holdpoint, approval: string, by: string, choice: Choice): Promise<void> {
  const via = "demo";
  switch (choice.kind) {
    case "approve":
      await hp.approvals.approve(approval, { ...noted(choice.note), by, via });
      return;
    case "modify":
      await hp.approvals.approve(approval, { ...noted(choice.note), by, via, edit: choice.edit });
      return;
    case "reject": {
      const { reason, final } = choice;
      await hp.approvals.reject(approval, { by, reason, final, via });
    }
  }
}

/** If a person has decided in another terminal meanwhile, that decision counts. */
async function review(hp: Holdpoint, question: Question, stage: Stage, reviewer: Reviewer): Promise<void> {
  const choice = await reviewer.decide(question);
  try {
    await vote(hp, question.approval, reviewer.by, choice);
  } catch (error) {
    if (!isHoldpointError(error) || error.code !== "decision_conflict") throw error;
    stage.say(error.what);
  }
}

async function follow(hp: Holdpoint, workflow: string, stage: Stage): Promise<readonly WorkflowEntry[]> {
  const entries: WorkflowEntry[] = [];
  for await (const entry of hp.workflows.follow(workflow, stage.signal)) {
    entries.push(entry);
    if (entry.type === "checkpoint.reached" && stage.reviewer !== null)
      await review(hp, await questionOf(hp, workflow, entries), stage, stage.reviewer);
  }
  return entries;
}

export async function play(stage: Stage): Promise<Played> {
  const { scenario, say, reviewer } = stage;
  const hp = holdpoint({ ...stage.store, agent: `${scenario.name}-agent`, notify: () => {} });
  try {
    const workflow = scenario.define(hp, { supervised: reviewer !== null, say });
    const handle = await workflow.start(scenario.input as Json);
    const entries = await follow(hp, handle.id, stage);
    const result = await handle.result();
    await admin(hp).seals.create();
    return { workflow: handle.id, result, entries, report: await hp.journal.verify() };
  } finally {
    await hp.close();
  }
}
