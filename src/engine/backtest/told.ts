/** What the policy of one recorded action was told at its first review, and what it said. */
import { askedAs, type Heard, type RecordedReview } from "../../core/backtest/heard.ts";
import { startReplay } from "../../core/backtest/replay.ts";
import { tapeEntry } from "../../core/backtest/tape.ts";
import type { Asked } from "../../core/policy/tool-pattern.ts";
import type { PolicyInput } from "../../core/verdict.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { actionStream, type StreamRef, workflowStream } from "../../kernel/stream.ts";
import { loadValue } from "../../runtime/store-access.ts";
import type { Store } from "../../stores/store.ts";
import { findAction } from "../receipts.ts";
import { entriesOf } from "../workflow/entries.ts";
import { pastOfFork } from "./fork-past.ts";

type Place = { readonly store: Store; readonly tenant: string };

export type Told = {
  readonly action: string;
  readonly input: PolicyInput;
  readonly said: RecordedReview;
  /** Digest of the input schema. */
  readonly schema: string;
  /** False where part of the workflow's history was erased. */
  readonly isWhole: boolean;
  /** Of a compensation only rules that speak of it count. */
  readonly asked: Asked;
};

async function streamsOf(place: Place, action: string): Promise<readonly StreamRef[]> {
  const [first] = await place.store.read(place.tenant, actionStream(action), { limit: 1 });
  if (first === undefined) throw new HoldpointError("unknown_id", `There is no action ${action}.`);
  if (first.body === null) throw new HoldpointError("body_erased", `What ${action} proposed was erased.`);
  const { within } = JSON.parse(first.body) as { readonly within?: { readonly workflow: string } };
  if (within === undefined) return [actionStream(action)];
  const streams: StreamRef[] = [workflowStream(within.workflow)];
  for await (const { type, body } of entriesOf(place, within.workflow))
    if (type === "call.made" || type === "compensation.made")
      streams.push(actionStream(String(body["action"])));
  return streams;
}

async function reviewed(place: Place, action: string) {
  const streams = await streamsOf(place, action);
  const pages = await Promise.all(streams.map((stream) => place.store.read(place.tenant, stream)));
  const entries = pages.flat().sort((a, b) => a.position - b.position);
  const replay = startReplay();
  for (const entry of entries) {
    const taped = tapeEntry(entry);
    const heard: Heard | undefined = taped === undefined ? undefined : replay.take(taped);
    if (heard?.kind === "forked")
      replay.begin(heard.workflow, await pastOfFork(place, heard.fork, heard.position));
    if (heard?.kind === "reviewed" && heard.action.id === action) return { heard, replay };
  }
  throw new HoldpointError(
    "unknown_id",
    `No policy was asked about ${action} yet, or what it said was erased.`,
  );
}

/** By an action's id, its effect's, or the caller's request id. */
export async function toldOf(place: Place, id: string): Promise<Told> {
  const action = await findAction(place, id);
  const { heard, replay } = await reviewed(place, action);
  const args = await loadValue(place, heard.action.args);
  const { input, isWhole } = replay.input(heard.action, { args, now: heard.now });
  const whole = { ...input, history: input.history };
  const { schema } = heard.action;
  const facts = { said: heard.review, schema, asked: askedAs(heard.action) };
  return { action, input: whole, ...facts, isWhole: isWhole() };
}
