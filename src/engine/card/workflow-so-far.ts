/**
 * What a workflow had done when something was asked in it, and since, and what of that could be taken back.
 *
 * S1. What had begun when it was asked is told apart from what began since: later effects are no grounds of an earlier question. Of
 *     both it is said how they stand now.
 */
import type { LiveAction } from "../../core/action/state.ts";
import type { KnownUndo } from "../../core/card/effect-words.ts";
import type { AtStake } from "../../core/card/rejection.ts";
import { actionStream } from "../../core/stream.ts";
import type { Snapshot } from "../../core/workflow/events.ts";
import type { Runtime } from "../runtime.ts";
import { entryAt } from "../workflow/entries.ts";
import { knownUndo } from "./known-undo.ts";
import { type Call, type Notes, notesOf } from "./workflow-notes.ts";

/** A checkpoint as it was reached, or raised by a monitor, which does not know every undo. */
export type Reached = AtStake & { readonly snapshot: Snapshot; readonly isRaised: boolean };

export type SoFar = Pick<Notes, "calls" | "undone"> & {
  /** The entry with which it was asked. */
  readonly askedSeq: number;
  /** Where the approval is that of a checkpoint. */
  readonly checkpoint: Reached | undefined;
};

type Place = Pick<Runtime, "store" | "tenant">;

async function reachedAt(
  place: Place,
  workflow: string,
  seq: number | undefined,
): Promise<Reached | undefined> {
  const entry = seq === undefined ? undefined : await entryAt(place, workflow, seq);
  if (entry === undefined) return undefined;
  const { snapshot, canRollback, irreversible } = entry.body as unknown as Reached;
  return { snapshot, canRollback, irreversible, isRaised: entry.type === "checkpoint.raised" };
}

type AskedIn = { readonly approval: string; readonly action: string; readonly at: number };

export async function readSoFar(
  place: Place,
  workflow: string,
  { approval, action }: AskedIn,
): Promise<SoFar> {
  const { calls, undone, asked, checkpoints } = await notesOf(place, workflow);
  const never = Number.POSITIVE_INFINITY;
  const askedSeq = Math.min(asked.get(approval) ?? never, calls.get(action)?.seq ?? never);
  const checkpoint = await reachedAt(place, workflow, checkpoints.get(approval));
  return { calls, undone, askedSeq, checkpoint };
}

export type Done = {
  readonly action: string;
  readonly seq: number;
  readonly state: LiveAction;
  readonly undo: KnownUndo;
  readonly isUndone: boolean;
};

/** Newest first; `total` counts those too that are not among them. */
type Listed = { readonly done: readonly Done[]; readonly total: number };

/** `done`: begun before it was asked. */
export type DoneSoFar = Listed & { readonly since: Listed };

const MOST_DONE = 100;

const HAPPENED: readonly LiveAction["phase"][] = ["running", "applied", "in_doubt"];

/** Whoever runs the definition said at the checkpoint what cannot be undone: the rest can, or need not. */
function undoKnown(runtime: Runtime, { checkpoint }: SoFar, call: Call, state: LiveAction): KnownUndo {
  const known = knownUndo(runtime, state, call.undo);
  if (checkpoint?.irreversible.some(({ action }) => action === call.action)) return "none";
  const isTold = checkpoint !== undefined && !checkpoint.isRaised && state.phase === "applied";
  return known === "not_known" && isTold ? "has" : known;
}

async function listed(runtime: Runtime, soFar: SoFar, calls: readonly Call[]): Promise<Listed> {
  const { store, tenant } = runtime;
  const seen = calls.slice(0, MOST_DONE);
  const read = seen.map(({ action }) => actionStream(action));
  const states = await store.transact(tenant, { read }, (sight) => ({
    kind: "commit",
    append: [],
    result: read.map((ref) => sight.state(ref)),
  }));
  const done = seen.flatMap((call, index) => {
    const state = states[index];
    if (state === undefined || state.phase === "none" || !HAPPENED.includes(state.phase)) return [];
    const { action, seq } = call;
    const undo = undoKnown(runtime, soFar, call, state);
    return [{ action, seq, state, undo, isUndone: soFar.undone.has(action) }];
  });
  return { done, total: calls.length - seen.length + done.length };
}

/** Made in the same moment, the order of the entries says which was first. */
const isSince = (call: Call, { askedSeq }: SoFar, at: number): boolean =>
  call.at === at ? call.seq > askedSeq : call.at > at;

/** Called before, it may have waited longer than the question did. */
const beganSince = ({ state }: Done, at: number): boolean => "effect" in state && state.effect.startedAt > at;

/** Beside the action that is asked about. */
export async function doneIn(runtime: Runtime, soFar: SoFar, { action, at }: AskedIn): Promise<DoneSoFar> {
  const calls = [...soFar.calls.values()].filter((one) => !one.isVoid && one.action !== action).reverse();
  const those = (are: boolean) => calls.filter((one) => isSince(one, soFar, at) === are);
  const earlier = await listed(runtime, soFar, those(false));
  const since = await listed(runtime, soFar, those(true));
  const late = earlier.done.filter((one) => beganSince(one, at));
  return {
    done: earlier.done.filter((one) => !beganSince(one, at)),
    total: earlier.total - late.length,
    since: { done: [...since.done, ...late], total: since.total + late.length },
  };
}
