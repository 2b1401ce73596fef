/**
 * Runs rules in the store's transaction.
 *
 * U1. A commit whose fate is unknown is found out, never guessed: the same rules run again and see what is there.
 * U2. Values and secrets that the rules ask for are loaded and handed in; rules themselves never wait.
 * U3. Rules run in the async context of their caller. A store decides several commits together, in the context of one of them:
 *     a policy or a transactional tool would otherwise see the request of another caller.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Load } from "../core/executor.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import {
  type Decide,
  type DecideResult,
  type DecisionScope,
  type Draft,
  decideWith,
  isNeed,
  type Need,
  type Needs,
  openDraft,
} from "../kernel/transaction.ts";

import type { SqlTransaction } from "../stores/store.ts";
import type { Runtime } from "./runtime.ts";
import { SecretsNeeded } from "./secrets.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;
const RETRIES = 8;
const RETRY_MS = 25;

/** For work that answers the same when it is done twice. */
async function findOut<Result>(place: Place, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SecretsNeeded) {
        await error.resolve();
        continue;
      }
      if (!isHoldpointError(error, "commit_unknown") || attempt >= RETRIES) throw error;
      await place.clock.sleep(RETRY_MS * attempt);
    }
  }
}

export function runDecide<Result>(place: Place, needs: Needs, decide: Decide<Result>): Promise<Result> {
  const hearing: Decide<Result> = AsyncLocalStorage.bind((sight) => {
    place.clock.heard?.(sight.now);
    return decide(sight);
  });
  return findOut(place, () => place.store.transact(place.tenant, needs, hearing));
}

export const storeTime = (place: Place): Promise<number> =>
  runDecide(place, {}, ({ now }) => ({ kind: "commit", append: [], result: now }));

/** In a transaction that the application's own tables share. */
export function runWithSql<Result>(
  place: Place,
  needs: Needs,
  decide: (sight: DecisionScope, sql: SqlTransaction) => DecideResult<Result>,
): Promise<Result> {
  const inContext = AsyncLocalStorage.bind(decide);
  return findOut(place, async () => {
    if (place.store.transactWithSql === undefined)
      throw new HoldpointError("store_unsuitable", "This store has no SQL transaction to share.");
    return place.store.transactWithSql(place.tenant, needs, inContext);
  });
}

export function runCommand<Result>(
  place: Place,
  needs: Needs,
  rules: (draft: Draft) => Need | Result,
): Promise<Exclude<Result, Need>> {
  return runDecide(place, needs, decideWith(rules));
}

/** Rules that ask for more have decided nothing: what they wrote down until then is not kept, and they begin anew. */
function withoutLoads<Result>(
  rules: (draft: Draft, loaded: ReadonlyMap<string, Json>) => Need | Result,
  loaded: ReadonlyMap<string, Json>,
): Decide<Result> {
  return (sight) => {
    const draft = openDraft(sight);
    const answer = rules(draft, loaded);
    if (isNeed(answer)) return answer;
    return isLoad(answer) ? { kind: "commit", append: [], result: answer } : draft.commit(answer);
  };
}

/** The same for rules that may ask for what is not in the states. */
export async function runLoading<Result extends { readonly kind: string }>(
  place: Place,
  needs: Needs,
  rules: (draft: Draft, loaded: ReadonlyMap<string, Json>) => Need | Result,
  load: (asked: Load) => Promise<Json>,
): Promise<Exclude<Result, Need | Load>> {
  const loaded = new Map<string, Json>();
  for (;;) {
    const answer = await runDecide(place, needs, withoutLoads(rules, loaded));
    if (!isLoad(answer)) return answer as Exclude<Result, Need | Load>;
    loaded.set(answer.key, await load(answer));
  }
}

function isLoad(answer: unknown): answer is Load {
  return (answer as { kind?: unknown }).kind === "load";
}
