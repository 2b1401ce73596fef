/**
 * Runs rules in the store's transaction, and reads states and the values that they refer to. A commit with an unknown
 * outcome is never guessed: the same rules run again and see what is there. Values and secrets that rules request are
 * loaded and passed in; rules themselves never wait. Rules run in the async context of their caller: a store decides
 * several commits together, in the context of one of them, and a policy or a transactional tool would otherwise see
 * another caller's request. Bytes of an artifact that do not match their hash are never used.
 */
import { AsyncResource } from "node:async_hooks";
import { digestOf, sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { type Json, parseJson } from "../kernel/json.ts";
import { artifactHash, isArtifactRef } from "../kernel/stored-value.ts";
import type { StreamRef } from "../kernel/stream.ts";
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
import type { Load } from "../policy/rules/tool-rules.ts";
import type { StateAt } from "../states.ts";
import type { SqlTransaction, TenantStore } from "../stores/store.ts";
import type { Runtime } from "./runtime.ts";
import { SecretsNeeded } from "./secrets.ts";

type CommandStore = Pick<Runtime, "store" | "tenant" | "clock">;
const RETRIES = 8;
const RETRY_MS = 25;
/** A resource instead of `AsyncLocalStorage.bind`: the same context, at a fortieth of the processor time. */
const CONTEXT = "holdpoint.decide";

/** For idempotent work only. */
async function retryUnknownCommit<Result>(place: CommandStore, work: () => Promise<Result>): Promise<Result> {
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

export function runDecide<Result>(
  place: CommandStore,
  needs: Needs,
  decide: Decide<Result>,
): Promise<Result> {
  const context = new AsyncResource(CONTEXT);
  const hearing: Decide<Result> = (sight) => {
    place.clock.heard?.(sight.now);
    return context.runInAsyncScope(decide, undefined, sight);
  };
  return retryUnknownCommit(place, () => place.store.transact(place.tenant, needs, hearing));
}

export const storeTime = (place: CommandStore): Promise<number> =>
  runDecide(place, {}, ({ now }) => ({ kind: "commit", append: [], result: now }));

/** In a transaction shared with the application's own tables. */
export function runWithSql<Result>(
  place: CommandStore,
  needs: Needs,
  decide: (sight: DecisionScope, sql: SqlTransaction) => DecideResult<Result>,
): Promise<Result> {
  const context = new AsyncResource(CONTEXT);
  const inContext: typeof decide = (sight, sql) => context.runInAsyncScope(decide, undefined, sight, sql);
  return retryUnknownCommit(place, async () => {
    if (place.store.transactWithSql === undefined)
      throw new HoldpointError("store_unsuitable", "This store has no SQL transaction to share.");
    return place.store.transactWithSql(place.tenant, needs, inContext);
  });
}

export function runCommand<Result>(
  place: CommandStore,
  needs: Needs,
  rules: (draft: Draft) => Need | Result,
): Promise<Exclude<Result, Need>> {
  return runDecide(place, needs, decideWith(rules));
}

/** Rules that request more have decided nothing: their events so far are dropped, and they run again from the start. */
function decideWithInputs<Result>(
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

/** The same for rules that may request values that are not in the states. */
export async function runWithInputs<Result extends { readonly kind: string }>(
  place: CommandStore,
  needs: Needs,
  rules: (draft: Draft, loaded: ReadonlyMap<string, Json>) => Need | Result,
  load: (asked: Load) => Promise<Json>,
): Promise<Exclude<Result, Need | Load>> {
  const loaded = new Map<string, Json>();
  for (;;) {
    const answer = await runDecide(place, needs, decideWithInputs(rules, loaded));
    if (!isLoad(answer)) return answer as Exclude<Result, Need | Load>;
    loaded.set(answer.key, await load(answer));
  }
}

function isLoad(answer: unknown): answer is Load {
  return (answer as { kind?: unknown }).kind === "load";
}

export function readState<Ref extends StreamRef>(place: TenantStore, ref: Ref): Promise<StateAt<Ref>> {
  return place.store.transact(place.tenant, { read: [ref] }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.state(ref),
  }));
}

/** With the store's time of the read. */
export function readStateAt<Ref extends StreamRef>(
  place: TenantStore,
  ref: Ref,
): Promise<{ readonly state: StateAt<Ref>; readonly now: number }> {
  return place.store.transact(place.tenant, { read: [ref] }, (sight) => ({
    kind: "commit",
    append: [],
    result: { state: sight.state(ref), now: sight.now },
  }));
}

/** A stored value in full. Bytes that do not match their hash are never used. */
export async function loadValue(place: TenantStore, kept: Json): Promise<Json> {
  return isArtifactRef(kept) ? loadArtifact(place, artifactHash(kept)) : kept;
}

/** The arguments of an action, checked against their recorded digest. */
export async function loadArgs(
  place: TenantStore,
  action: { readonly args: Json; readonly argsDigest: string },
): Promise<Json> {
  const args = await loadValue(place, action.args);
  if (digestOf(args) === action.argsDigest) return args;
  throw new HoldpointError("store_corrupt", "The arguments of an action are not those that were recorded.");
}

export async function loadArtifact(place: TenantStore, hash: string): Promise<Json> {
  const bytes = await place.store.artifact(place.tenant, hash);
  if (bytes === undefined || sha256(bytes) !== hash) {
    throw new HoldpointError(
      "store_corrupt",
      `The artifact ${hash} is missing or is not what its name says.`,
    );
  }
  return parseJson(Buffer.from(bytes).toString("utf8"));
}
