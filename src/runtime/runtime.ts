/** The dependencies of everything that is not a rule, injected so that the simulator can replace them. */

import type { Tool } from "../effects/tool.ts";
import type { PublicJwk, SigningKey } from "../journal/jws.ts";
import type { Clock } from "../kernel/clock.ts";
import { ID_RANDOM_BYTES, type IdPrefix, makeId } from "../kernel/ids.ts";
import type { UsedVersion } from "../policy/rules/adopt.ts";
import type { CompiledPolicy } from "../policy/rules/compile.ts";
import type { Store } from "../stores/store.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { Notice } from "./notices.ts";
import type { RestoreGuard } from "./restore-guard.ts";
import type { Secrets } from "./secrets.ts";
import type { Waker } from "./waker.ts";

/** Places between two commits where a test may stop the world. */
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
  /** How long the hold lasts from now unless it is renewed, as far as this process knows; null where it is no lease. */
  leaseLeftMs(): number | null;
  /** Aborted once the hold was lost for good, by the store's word. */
  readonly lost: AbortSignal;
  /** Renews a hold that is about to lapse. One that was lost is the error `epoch_ended`. */
  confirm(): Promise<void>;
};

/** How many documents of this instance are this version, and the epoch in whose name it was told; null while none is. */
export type PolicyUse = { readonly version: UsedVersion; count: number; epoch: string | null };
/** By name and digest: however many runs bring the same document, it is one. */
export type PoliciesInForce = Map<string, PolicyUse>;

export type Runtime = {
  readonly store: Store;
  readonly tenant: string;
  readonly agent: string;
  readonly requester: readonly string[];
  /** Separation of duties in everything that people are asked. */
  readonly separate?: boolean;
  readonly clock: Clock;
  /** A clock whose sleeping does not keep the process alive. */
  readonly idle: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The policy document that is in force; absent where there is none. */
  readonly policy?: () => CompiledPolicy;
  readonly secrets: Secrets;
  readonly history: RestoreGuard;
  readonly waker: Waker;
  readonly epoch: () => Promise<Epoch>;
  /** The same, where it was begun already; undefined where nothing needed one yet. */
  readonly begunEpoch: () => Promise<Epoch | undefined>;
  /** Versions of policies that this instance judges by. */
  readonly inForce: PoliciesInForce;
  readonly signingKey: () => Promise<SigningKey>;
  /** Public keys that this machine trusts; none while there is no key. */
  readonly knownKeys: () => Promise<readonly PublicJwk[]>;
  readonly notify: (notice: Notice) => void;
  readonly reach: (point: CrashPoint) => void | Promise<void>;
  /** Actions that this process performs at this moment, and calls between a decision and its outcome. */
  readonly performing: Set<string>;
  /** Attempts (`action#attempt`) that this process may have sent and not yet written down. */
  readonly sent: Set<string>;
  /** Attempts of its own that recovery has looked at: whoever started them asks the store again before a send. */
  readonly recovered: Set<string>;
  /** Attempts that were given up at their time-out: null while they are out, then how long ago they came back. */
  readonly overdue: Map<string, (() => number) | null>;
  readonly recovering: ConcurrencyLimit;
  readonly probing: ConcurrencyLimit;
  /** Aborts when the instance closes. */
  readonly closing: AbortSignal;
};

export type OpenRuntime = Runtime & { close(): Promise<void> };

/** Opens the store on first use; every verb waits for that. */
export type RuntimeOpener = () => Promise<OpenRuntime>;

export function freshId(runtime: Pick<Runtime, "clock" | "random">, prefix: IdPrefix): string {
  return makeId(prefix, runtime.clock.now(), runtime.random(ID_RANDOM_BYTES));
}
