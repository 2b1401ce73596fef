/** One instance's runtime over an open store: begins its epoch at the first effect, reads its key at the first seal. */

import { outsideCallers, outsideFrames } from "../effects/call-context.ts";
import type { Tool } from "../effects/tool.ts";

import { type Clock, stopwatch } from "../kernel/clock.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { errorText, visible } from "../kernel/text.ts";
import type { CompiledPolicy } from "../policy/rules/compile.ts";
import type { Store } from "../stores/store.ts";
import { createConcurrencyLimit, runAll } from "./concurrency.ts";
import {
  beginEpoch,
  createEpochRenewal,
  leaseLostError,
  type OwnEpoch,
  runtimeEpochs,
  stopIfBroken,
} from "./epochs.ts";
import { type Keyring, refuseOtherKey, sealTenant } from "./keyring.ts";
import { holdLease, type MaintenanceIntervals, maintain } from "./maintenance.ts";
import type { Notice } from "./notices.ts";
import { createRestoreGuard, type Witness } from "./restore-guard.ts";
import type { CrashPoint, OpenRuntime, Runtime } from "./runtime.ts";
import { createSecrets } from "./secrets.ts";
import { createWaker } from "./waker.ts";

export type { OpenRuntime } from "./runtime.ts";

export type RuntimeParts = {
  readonly store: Store;
  readonly tenant: string;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly separate?: boolean;
  readonly clock: Clock;
  /** A clock whose timers do not keep the process alive. */
  readonly idle: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policy?: () => CompiledPolicy;
  readonly environment: Runtime["environment"];
  readonly renderCard?: Runtime["renderCard"];
  readonly keyring: () => Keyring;
  /** The same, but never creates a key. */
  readonly knownKeyring?: () => Keyring | undefined;
  /** What this machine saw of the store before. Without a witness, an old backup in its place is not detected. */
  readonly witness?: Witness;
  readonly notify: (notice: Notice) => void;
  readonly reach: (point: CrashPoint) => void | Promise<void>;
  /** Name of the process that its epoch records, for people who read the journal. */
  readonly process: string;
  readonly node?: { readonly kind: string; readonly version: string };
  /** Names of the workflows defined here so far. */
  readonly definitions?: () => readonly string[];
  /** How long `close` lets effects under way finish. Default: 30 seconds. */
  readonly drainMs?: number;
  readonly rhythm: MaintenanceIntervals;
  readonly seals: boolean;
};

const DRAIN_MS = 30_000;
const SEAL_MS = 5_000;
const LOOK_MS = 20;
const REST_MS = 1_000;

/** Per tool. */
const RECOVERED_AT_ONCE = 16;
const PROBED_AT_ONCE = 8;

/** Whether the work ended in time. */
async function within(clock: Clock, work: Promise<void>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(() => false);
  return Promise.race([work.then(() => true), late]).finally(() => timer.abort());
}

async function restPerforming(runtime: Runtime, withinMs: number): Promise<boolean> {
  for (let waited = 0; runtime.performing.size > 0 && waited < withinMs; waited += LOOK_MS)
    await runtime.clock.sleep(LOOK_MS);
  return runtime.performing.size === 0;
}

/** Waits without limit; it does not keep the process alive. */
async function atRest(runtime: Runtime, upkeep: Promise<void> | undefined): Promise<void> {
  await upkeep;
  while (runtime.performing.size > 0) await runtime.idle.sleep(REST_MS);
}

/** Both within one limit, because the caller that stops the process relies on it. */
async function comeToRest(runtime: Runtime, upkeep: Promise<void>, drainMs: number): Promise<boolean> {
  const spent = stopwatch(runtime.clock);
  return (await within(runtime.clock, upkeep, drainMs)) && restPerforming(runtime, drainMs - spent());
}

/** A program's `notify` may be asynchronous, even if its declared type is not. */
type NoticeListener = Pick<RuntimeParts, "reach"> & { readonly notify: (notice: Notice) => unknown };

/** Delivers immediately, unless a test holds the process at the crash point before. */
async function deliverNotice({ notify, reach }: NoticeListener, notice: Notice): Promise<void> {
  const held = reach("before_notify");
  if (held !== undefined) await held;
  await Promise.resolve(notify(notice));
  await reach("after_notify");
}

/** A listener that fails, now or later, does not fail the call: the fact is in the journal. */
function notifyListener(listener: NoticeListener, notice: Notice): void {
  outsideFrames(() => deliverNotice(listener, notice)).catch((error: unknown) => {
    process.stderr.write(`holdpoint: notify failed on "${notice.kind}": ${visible(errorText(error))}\n`);
  });
}

const NOT_OURS_TO_SEAL: readonly unknown[] = ["key_mismatch", "store_read_only", "store_busy"];
/** The process worked on another history than the store now has. */
const NOBODYS_TO_SEAL: readonly unknown[] = ["store_restored"];

/** A process that executed seals its work. One that only decided does so if the key is available. */
async function sealLast(runtime: Runtime, executed: boolean): Promise<void> {
  if (!executed && (await runtime.knownKeys().catch(() => [])).length === 0) return;
  try {
    await sealTenant(runtime);
  } catch (error) {
    const left = executed ? NOBODYS_TO_SEAL : [...NOBODYS_TO_SEAL, ...NOT_OURS_TO_SEAL];
    if (!isHoldpointError(error) || !left.includes(error.code)) throw error;
  }
}

/** Detects a missing or wrong key, and a restored or copied store, before anything runs. */
async function beginChecked(runtime: Runtime, parts: RuntimeParts): Promise<OwnEpoch> {
  const { history } = runtime;
  if (parts.seals) await refuseOtherKey(runtime);
  await history.confirm();
  const own = await beginEpoch(parts, parts, runtime.inForce);
  return stopIfBroken(own, history.broken);
}

/** In-memory state of this process, lost with it. */
const createMemory = (): Pick<Runtime, "performing" | "sent" | "recovered" | "overdue" | "inForce"> => ({
  performing: new Set(),
  sent: new Set(),
  recovered: new Set(),
  overdue: new Map(),
  inForce: new Map(),
});

/** Background loops. The lease is held until all work has ended; the other loops end before that. */
function createUpkeep(parts: RuntimeParts) {
  const over = new AbortController();
  let upkeep: Promise<void> | undefined;
  let holding: Promise<void> | undefined;
  return {
    start(runtime: Runtime, life: Parameters<typeof holdLease>[1]): void {
      holding ??= outsideCallers(() => holdLease(runtime, life, parts.idle, over.signal));
      upkeep ??= outsideCallers(() => maintain(runtime, life, parts.idle, parts));
    },
    /** Whether all work ended in time. */
    async end(runtime: Runtime): Promise<boolean> {
      const { drainMs = DRAIN_MS } = parts;
      const isIdle = await comeToRest(runtime, upkeep ?? Promise.resolve(), drainMs);
      over.abort();
      if (isIdle) await holding;
      return isIdle;
    },
    rest: (runtime: Runtime): Promise<void> => atRest(runtime, upkeep),
  };
}

/** Others find the epoch dead when its hold is gone, and put its effects in doubt. Waits for no unfinished begin. */
function leaveOwn(begun: Promise<OwnEpoch> | undefined, rest: () => Promise<void>): void {
  begun?.then(
    (own) => own.leave(rest()),
    () => undefined,
  );
}

export function openRuntime(parts: RuntimeParts): OpenRuntime {
  const { store, tenant, clock, random, environment } = parts;
  const closing = new AbortController();
  const upkeep = createUpkeep(parts);

  const notify = (notice: Notice) => notifyListener(parts, notice);
  const lanes = (width: number) =>
    createConcurrencyLimit(width, closing.signal, (error) => notify({ kind: "maintenance_failed", error }));

  const lives = createEpochRenewal({
    begin,
    isOver: () => closing.signal.aborted,
    lost: () => notify({ kind: "maintenance_failed", error: leaseLostError() }),
  });
  const key = async () => parts.keyring().secrets;
  const history = createRestoreGuard({ store, tenant, witness: parts.witness });
  const runtime: Runtime = {
    ...parts,
    renderCard: parts.renderCard,
    notify,
    history,
    secrets: createSecrets({ store, tenant, random, environment, key }),
    waker: createWaker(store, tenant, clock),
    signingKey: async () => parts.keyring().signing,
    knownKeys: async () => [(parts.knownKeyring ?? parts.keyring)()?.signing.publicJwk ?? []].flat(),
    ...createMemory(),
    recovering: lanes(RECOVERED_AT_ONCE),
    probing: lanes(PROBED_AT_ONCE),
    closing: closing.signal,
    ...runtimeEpochs(lives, history.broken),
  };

  async function begin(): Promise<OwnEpoch> {
    const own = await beginChecked(runtime, parts);
    upkeep.start(runtime, { leaseMs: own.leaseMs, current: lives.current });
    return own;
  }

  async function endOwn(): Promise<void> {
    if (await upkeep.end(runtime)) await (await lives.begun())?.end();
    else leaveOwn(lives.begun(), () => upkeep.rest(runtime));
  }

  /** If the store does not answer in time, the next process seals the rest. */
  async function sealInTime(): Promise<void> {
    if (!parts.seals) return;
    await within(clock, sealLast(runtime, lives.begun() !== undefined), SEAL_MS);
  }

  async function close(): Promise<void> {
    closing.abort();
    await runAll([endOwn, sealInTime, () => runtime.waker.close(), () => store.close()]);
  }

  return { ...runtime, close };
}
