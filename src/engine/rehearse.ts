/**
 * Rules run on what stands now, and nothing of what they decide is kept.
 *
 * R1. Nothing is written: what they wanted to write is only looked at, and what they appended is handed back and dropped.
 */

import type { Load } from "../core/executor.ts";
import type { Json } from "../kernel/json.ts";
import {
  type Decide,
  type DecideResult,
  type DecisionScope,
  type Draft,
  isNeed,
  type Need,
  type Needs,
  openDraft,
  type StreamAppend,
} from "../kernel/transaction.ts";

import { runDecide } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;
type Rules<Result> = (draft: Draft, loaded: ReadonlyMap<string, Json>) => Need | Result;
type Loader = (asked: Load) => Promise<Json>;

/** What the rules answered, and what they would have appended. */
export type Rehearsed<Result> = {
  readonly answer: Exclude<Result, Need | Load>;
  readonly append: readonly StreamAppend[];
};

const onlySeen = ({ write = [], read = [], ...rest }: Needs): Needs => ({
  ...rest,
  read: [...write, ...read],
});

function looking(sight: DecisionScope): DecisionScope {
  return { ...sight, missing: (needs) => sight.missing(onlySeen(needs)) };
}

type Looked<Result> = { readonly result: Exclude<Result, Need>; readonly append: readonly StreamAppend[] };

function lookWith<Result>(rules: Rules<Result>, loaded: ReadonlyMap<string, Json>): Decide<Looked<Result>> {
  return (sight): DecideResult<Looked<Result>> => {
    const draft = openDraft(looking(sight));
    const answer = rules(draft, loaded);
    if (isNeed(answer)) return answer;
    const result = answer as Exclude<Result, Need>;
    const decided = draft.commit(result);
    const append = decided.kind === "commit" ? decided.append : [];
    return { kind: "commit", append: [], result: { result, append } };
  };
}

const isLoad = (answer: unknown): answer is Load =>
  typeof answer === "object" && answer !== null && (answer as { kind?: unknown }).kind === "load";

const nothing: Loader = async ({ key }) => {
  throw new TypeError(`rules that load nothing asked for ${key}`);
};

export async function rehearse<Result>(
  place: Place,
  needs: Needs,
  rules: Rules<Result>,
  load: Loader = nothing,
): Promise<Rehearsed<Result>> {
  const loaded = new Map<string, Json>();
  for (;;) {
    const { result, append } = await runDecide(place, onlySeen(needs), lookWith(rules, loaded));
    if (!isLoad(result)) return { answer: result as Exclude<Result, Need | Load>, append };
    loaded.set(result.key, await load(result));
  }
}
