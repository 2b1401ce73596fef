/**
 * Runs rules on the current state as a dry run. Nothing is written: streams are only read, and the rules' events are
 * returned and dropped.
 */

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
import type { Load } from "../policy/rules/tool-rules.ts";
import type { Runtime } from "./runtime.ts";
import { runDecide } from "./store-access.ts";

type DryRunRuntime = Pick<Runtime, "store" | "tenant" | "clock">;
type Rules<Result> = (draft: Draft, loaded: ReadonlyMap<string, Json>) => Need | Result;
type Loader = (asked: Load) => Promise<Json>;

/** The rules' answer, and the events they would have appended. */
export type DryRunResult<Result> = {
  readonly answer: Exclude<Result, Need | Load>;
  readonly append: readonly StreamAppend[];
};

const readsOnly = ({ write = [], read = [], ...rest }: Needs): Needs => ({
  ...rest,
  read: [...write, ...read],
});

function withReadsOnly(sight: DecisionScope): DecisionScope {
  return { ...sight, missing: (needs) => sight.missing(readsOnly(needs)) };
}

type DryRunOutcome<Result> = {
  readonly result: Exclude<Result, Need>;
  readonly append: readonly StreamAppend[];
};

function decideWithoutWriting<Result>(
  rules: Rules<Result>,
  loaded: ReadonlyMap<string, Json>,
): Decide<DryRunOutcome<Result>> {
  return (sight): DecideResult<DryRunOutcome<Result>> => {
    const draft = openDraft(withReadsOnly(sight));
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

const loadNothing: Loader = async ({ key }) => {
  throw new TypeError(`rules that load nothing asked for ${key}`);
};

export async function dryRun<Result>(
  place: DryRunRuntime,
  needs: Needs,
  rules: Rules<Result>,
  load: Loader = loadNothing,
): Promise<DryRunResult<Result>> {
  const loaded = new Map<string, Json>();
  for (;;) {
    const { result, append } = await runDecide(place, readsOnly(needs), decideWithoutWriting(rules, loaded));
    if (!isLoad(result)) return { answer: result as Exclude<Result, Need | Load>, append };
    loaded.set(result.key, await load(result));
  }
}
