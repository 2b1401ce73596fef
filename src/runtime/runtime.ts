/** Dependencies of everything that is not a rule, injected so that the simulator can replace them. Opened at first use. */

import { randomFillSync } from "node:crypto";
import type { Tool } from "../effects/tool.ts";
import type { PublicJwk, SigningKey } from "../journal/jws.ts";
import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { ID_RANDOM_BYTES, makeId } from "../kernel/ids.ts";
import type { IdPrefix } from "../kernel/registry.ts";
import type { UsedVersion } from "../policy/rules/adopt.ts";
import type { CompiledPolicy } from "../policy/rules/compile.ts";
import type { Store } from "../stores/store.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { Notice } from "./notices.ts";
import type { RestoreGuard } from "./restore-guard.ts";
import type { Secrets } from "./secrets.ts";
import type { Waker } from "./waker.ts";

/** Points between two commits where a test may stop the process. */
export type CrashPoint =
  | "before_propose"
  | "after_propose"
  | "before_start"
  | "after_start"
  | "before_send"
  | "after_send"
  | "before_outcome"
  | "after_outcome"
  | "before_vote"
  | "after_vote"
  | "before_seal"
  | "after_seal"
  | "before_recover"
  | "after_recover"
  | "before_notify"
  | "before_take"
  | "after_take"
  | "before_checkpoint"
  | "after_checkpoint"
  | "before_compensation"
  | "after_compensation"
  | "before_fact"
  | "after_fact"
  | "before_rest"
  | "after_rest"
  | "after_notify";

export type Epoch = {
  readonly id: string;
  /** Whether this process may still send: its hold has not lapsed, with a margin. */
  mayRun(): boolean;
  /** Time left on the hold without renewal, as far as this process knows; null if it is not a lease. */
  leaseLeftMs(): number | null;
  /** Aborts once the store has confirmed that the hold is lost for good. */
  readonly lost: AbortSignal;
  /** Renews a hold that is about to lapse. Throws `epoch_ended` if it was lost. */
  confirm(): Promise<void>;
};

/** Number of documents of this instance with this version, and the epoch that recorded it; null if none has. */
export type PolicyUse = { readonly version: UsedVersion; count: number; epoch: string | null };
/** By name and digest: runs that bring the same document share one entry. */
export type PoliciesInForce = Map<string, PolicyUse>;

export type Runtime = {
  readonly store: Store;
  readonly tenant: string;
  readonly agent: string;
  readonly requester: readonly string[];
  /** Separation of duties for every approval. */
  readonly separate?: boolean;
  readonly clock: Clock;
  /** A clock whose timers do not keep the process alive. */
  readonly idle: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The policy document in force; absent if there is none. */
  readonly policy?: () => CompiledPolicy;
  readonly secrets: Secrets;
  readonly history: RestoreGuard;
  readonly waker: Waker;
  readonly epoch: () => Promise<Epoch>;
  /** The epoch if it was begun; undefined if nothing has needed one yet. */
  readonly begunEpoch: () => Promise<Epoch | undefined>;
  /** Policy versions that this instance judges by. */
  readonly inForce: PoliciesInForce;
  readonly signingKey: () => Promise<SigningKey>;
  /** Public keys that this machine trusts; empty if it has no key. */
  readonly knownKeys: () => Promise<readonly PublicJwk[]>;
  readonly notify: (notice: Notice) => void;
  /** Environment variables. */
  readonly environment: (name: string) => string | undefined;
  /** Lines of the card in a mail, from its content. */
  readonly renderCard: ((content: never, now: number) => readonly string[]) | undefined;
  readonly reach: (point: CrashPoint) => void | Promise<void>;
  /** Actions that this process is performing, and calls between a decision and its outcome. */
  readonly performing: Set<string>;
  /** Attempts (`action#attempt`) that this process may have sent and not recorded yet. */
  readonly sent: Set<string>;
  /** Own attempts that recovery has examined: the call that started one checks the store again before a send. */
  readonly recovered: Set<string>;
  /** Attempts given up at their timeout: null while they are running, then the time since they returned. */
  readonly overdue: Map<string, (() => number) | null>;
  readonly recovering: ConcurrencyLimit;
  readonly probing: ConcurrencyLimit;
  /** Aborts when the instance closes. */
  readonly closing: AbortSignal;
};

export type OpenRuntime = Runtime & { close(): Promise<void> };

/** Opens the store on first use; every verb waits for it. */
export type RuntimeOpener = () => Promise<OpenRuntime>;

/** Opens the runtime at first use, and closes it once. After a failure the next use tries again. */
export function openOnce(begin: RuntimeOpener): { readonly open: RuntimeOpener; close(): Promise<void> } {
  let runtime: Promise<OpenRuntime> | undefined;
  let closed: Promise<void> | undefined;
  /** If opening failed there is nothing to close, and the caller that opened it already has the error. */
  const closeOpened = async () => (await runtime?.catch(() => undefined))?.close();
  return {
    open: () => {
      if (closed !== undefined)
        return Promise.reject(new HoldpointError("closed", "This instance was closed."));
      runtime ??= begin().catch((error: unknown) => {
        runtime = undefined;
        throw error;
      });
      return runtime;
    },
    close: () => {
      closed ??= closeOpened();
      return closed;
    },
  };
}

/** Stops at no crash point. */
export const passCrashPoint: Runtime["reach"] = () => undefined;

const POOL_BYTES = 8192;

/** Draws random bytes from the system a page at a time: a system call costs as much for 16 bytes as for a page. */
export function pooledRandom(): (bytes: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (bytes) => {
    if (bytes > POOL_BYTES) return randomFillSync(new Uint8Array(bytes));
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    const drawn = pool.slice(used - bytes, used);
    pool.fill(0, used - bytes, used);
    return drawn;
  };
}

export function freshId(runtime: Pick<Runtime, "clock" | "random">, prefix: IdPrefix): string {
  return makeId(prefix, runtime.clock.now(), runtime.random(ID_RANDOM_BYTES));
}
