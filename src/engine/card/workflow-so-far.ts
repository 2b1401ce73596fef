/**
 * What a workflow had done when something was asked in it, and since, and what of that could be taken back.
 *
 * S1. What had begun when it was asked is told apart from what began since: later effects are no grounds of an earlier question. Of
 *     both it is said how they stand now.
 */
import type { SettledAnswer } from "../../core/action/settled-answer.ts";
import type { LiveAction } from "../../core/action/state.ts";
import type { KnownUndo } from "../../core/card/effect-words.ts";
import type { AtStake } from "../../core/card/rejection.ts";
import { actionStream } from "../../core/stream.ts";
import type { CallUndo, Snapshot } from "../../core/workflow/events.ts";
import type { Runtime } from "../runtime.ts";
import { entriesOf } from "../workflow/entries.ts";
import type { Entry } from "../workflow/recorded.ts";
import { knownUndo } from "./known-undo.ts";

type Call = {
  readonly action: string;
  readonly seq: number;
  readonly at: number;
  readonly undo: CallUndo | undefined;
  /** Nothing came of it. */
  isVoid: boolean;
};

/** A checkpoint as it was reached, or raised by a monitor, which does not know every undo. */
export type Reached = AtStake & { readonly snapshot: Snapshot; readonly isRaised: boolean };

export type SoFar = {
  readonly calls: Map<string, Call>;
  readonly undone: Set<string>;
  /** The entry with which it was asked. */
  askedSeq: number;
  /** Where the approval is that of a checkpoint. */
  checkpoint: Reached | undefined;
};

const isVoid = ({ body }: Entry): boolean => (body["answer"] as unknown as SettledAnswer).executed === false;

function reachedIn({ type, body }: Entry): Reached {
  const { snapshot, canRollback, irreversible } = body as unknown as Reached;
  return { snapshot, canRollback, irreversible, isRaised: type === "checkpoint.raised" };
}

type AskedIn = { readonly approval: string; readonly action: string; readonly at: number };

function note(soFar: SoFar, entry: Entry, asked: AskedIn): void {
  const { type, seq, at, body } = entry;
  const action = String(body["action"]);
  if (body["approval"] === asked.approval || (type === "call.made" && action === asked.action))
    soFar.askedSeq = Math.min(soFar.askedSeq, seq);
  switch (type) {
    case "call.made":
      soFar.calls.set(action, {
        ...{ action, seq, at, isVoid: false },
        undo: body["undo"] as CallUndo | undefined,
      });
      return;
    case "call.settled": {
      const call = soFar.calls.get(action);
      if (call !== undefined) call.isVoid = isVoid(entry);
      return;
    }
    case "compensation.settled":
      if (body["status"] === "undone") soFar.undone.add(String(body["undoes"]));
      return;
    case "checkpoint.reached":
    case "checkpoint.raised":
      if (body["approval"] === asked.approval) soFar.checkpoint = reachedIn(entry);
  }
}

export async function readSoFar(
  place: Pick<Runtime, "store" | "tenant">,
  workflow: string,
  asked: AskedIn,
): Promise<SoFar> {
  const askedSeq = Number.POSITIVE_INFINITY;
  const soFar: SoFar = { calls: new Map(), undone: new Set(), askedSeq, checkpoint: undefined };
  for await (const entry of entriesOf(place, workflow)) note(soFar, entry, asked);
  return soFar;
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
