/** What stands around an approval: its workflow, and what a rejection would do to that. */

import type { SettledAnswer } from "../core/action/settled-answer.ts";
import type { LiveAction } from "../core/action/state.ts";
import { isStep } from "../core/action/within.ts";
import type { JsonObject } from "../core/json.ts";
import { actionStream } from "../core/stream.ts";
import type { CallUndo, Snapshot } from "../core/workflow/events.ts";
import type { LiveWorkflow } from "../core/workflow/state.ts";
import type { Runtime } from "../engine/runtime.ts";
import { entriesOf, entryAt } from "../engine/workflow/entries.ts";
import type { Entry } from "../engine/workflow/recorded.ts";
import { type AtStake, isIrreversible, isTakenBack, type KnownUndo, rejectionOf } from "./rules/card.ts";

export type WorkflowAround = DoneSoFar & { readonly id: string; readonly state: LiveWorkflow };

export type Rejecting = {
  /** A checkpoint; null is the start. */
  readonly goesBackTo: string | null;
  /** It cannot go back: the workflow fails. */
  readonly isEnd: boolean;
  /** Having gone back, it is not tried again. */
  readonly isLast: boolean;
  /** Tools, the newest first. */
  readonly undone: readonly string[];
  /** Those of which only the agent says so. */
  readonly claimed: readonly string[];
  readonly stays: readonly string[];
};

export type AroundIt = {
  readonly workflow: WorkflowAround | null;
  readonly rejecting: Rejecting | null;
  /** Of a checkpoint. */
  readonly snapshot: JsonObject | null;
  /** How the call is undone that is asked about, where its agent drives the workflow. */
  readonly call: CallUndo | undefined;
};

export const NOTHING_AROUND: AroundIt = { workflow: null, rejecting: null, snapshot: null, call: undefined };

/** It is there, and would have to be taken back. */
const isLeft = ({ isUndone, undo, state }: Done): boolean =>
  !isUndone && undo !== "nothing" && state.phase === "applied";

export const canUndo = ({ undo, isUndone }: Done): boolean => isTakenBack(undo) && !isUndone;

/** How many of them nobody could take back. */
export const cannotUndo = (done: readonly Done[]): number =>
  done.filter(({ undo, isUndone }) => !isUndone && isIrreversible(undo)).length;

const toolOf = ({ state }: Done): string => state.tool;

/** What a child did stands in its own stream: of that, only what cannot be undone is known here. Of what nobody knows, neither is said. */
export function rejectingOf(state: LiveWorkflow, stake: Reached, { done, since }: DoneSoFar): Rejecting {
  const { isEnd, isLast, goesBackTo, after } = rejectionOf(state, stake);
  // Whatever else went on while it waits is gone back over too.
  const left = [...since.done, ...done].filter(isLeft);
  if (isEnd) return { isEnd, isLast, goesBackTo, undone: [], claimed: [], stays: left.map(toolOf) };
  const over = left.filter(({ seq }) => seq > after);
  const undone = over.filter(({ undo }) => isTakenBack(undo)).map(toolOf);
  const claimed = over.filter(({ undo }) => undo === "claimed").map(toolOf);
  const stays = stake.irreversible.map(({ tool }) => tool).reverse();
  return { isEnd, isLast, goesBackTo, undone, claimed, stays };
}

/**
 * What cards need of a workflow's entries, noted as they are read.
 *
 * N1. An entry is read once, however often somebody looks: an agent that calls without end makes nobody's card dear.
 * N2. What is kept is bounded: of so many workflows, and so many entries of all of them; what was looked at last stays.
 */

export type Call = {
  readonly action: string;
  readonly seq: number;
  readonly at: number;
  readonly undo: CallUndo | undefined;
  /** Nothing came of it. */
  isVoid: boolean;
};

export type Notes = {
  readonly calls: Map<string, Call>;
  readonly undone: Set<string>;
  /** By approval, the first entry that names it. */
  readonly asked: Map<string, number>;
  /** By approval, the entry of its checkpoint. */
  readonly checkpoints: Map<string, number>;
};

type Known = { readonly notes: Notes; readSeq: number; reading: Promise<unknown> };
type Place = Pick<Runtime, "store" | "tenant">;

type Most = { readonly workflows: number; readonly notes: number };
const MOST: Most = { workflows: 100, notes: 200_000 };
const kept = new WeakMap<Place["store"], Map<string, Known>>();

const fresh = (): Known => ({
  notes: { calls: new Map(), undone: new Set(), asked: new Map(), checkpoints: new Map() },
  readSeq: 0,
  reading: Promise.resolve(),
});

function allOf({ store }: Place): Map<string, Known> {
  const all = kept.get(store) ?? new Map<string, Known>();
  kept.set(store, all);
  return all;
}

function knownOf(place: Place, workflow: string): Known {
  const all = allOf(place);
  const name = `${place.tenant}/${workflow}`;
  const known = all.get(name) ?? fresh();
  all.delete(name);
  all.set(name, known);
  return known;
}

const sizeOf = ({ notes: { calls, undone, asked } }: Known): number => calls.size + undone.size + asked.size;

/** Those that were not looked at for longest go first. */
function forget(place: Place, most: Most): void {
  const all = allOf(place);
  let size = [...all.values()].reduce((sum, known) => sum + sizeOf(known), 0);
  for (const [name, known] of all) {
    if (all.size === 1 || (all.size <= most.workflows && size <= most.notes)) return;
    all.delete(name);
    size -= sizeOf(known);
  }
}

const isVoid = ({ body }: Entry): boolean => (body["answer"] as unknown as SettledAnswer).executed === false;

function noteAsked({ asked, checkpoints }: Notes, { type, seq, body }: Entry): void {
  const { approval } = body;
  if (typeof approval !== "string") return;
  if (!asked.has(approval)) asked.set(approval, seq);
  if (type === "checkpoint.reached" || type === "checkpoint.raised") checkpoints.set(approval, seq);
}

function note(notes: Notes, entry: Entry): void {
  const { type, seq, at, body } = entry;
  const action = String(body["action"]);
  noteAsked(notes, entry);
  switch (type) {
    case "call.made":
      if (!notes.calls.has(action))
        notes.calls.set(action, {
          ...{ action, seq, at, isVoid: false },
          undo: body["undo"] as CallUndo | undefined,
        });
      return;
    case "call.settled": {
      const call = notes.calls.get(action);
      if (call !== undefined) call.isVoid = isVoid(entry);
      return;
    }
    case "compensation.settled":
      if (body["status"] === "undone") notes.undone.add(String(body["undoes"]));
  }
}

async function readOn(place: Place, workflow: string, known: Known): Promise<void> {
  for await (const entry of entriesOf(place, workflow, known.readSeq + 1)) {
    note(known.notes, entry);
    known.readSeq = entry.seq;
  }
}

/** One reader at a time: two would both read on from the same entry. */
export async function notesOf(place: Place, workflow: string, most = MOST): Promise<Notes> {
  const known = knownOf(place, workflow);
  const read = () => readOn(place, workflow, known);
  const turn = known.reading.then(read, read);
  known.reading = turn;
  await turn;
  forget(place, most);
  return known.notes;
}

/**
 * What a workflow had done when something was asked in it, and since, and what of that could be taken back.
 *
 * S1. What had begun when it was asked is told apart from what began since: later effects are no grounds of an earlier question. Of
 *     both it is said how they stand now.
 */

/** A checkpoint as it was reached, or raised by a monitor, which does not know every undo. */
export type Reached = AtStake & { readonly snapshot: Snapshot; readonly isRaised: boolean };

export type SoFar = Pick<Notes, "calls" | "undone"> & {
  /** The entry with which it was asked. */
  readonly askedSeq: number;
  /** Where the approval is that of a checkpoint. */
  readonly checkpoint: Reached | undefined;
};

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

/** Whether what an action of a workflow did would be taken back, as far as this process knows. */

const OF_CALL: { readonly [undo in CallUndo]: KnownUndo } = {
  agent: "has",
  here: "has",
  none: "none",
  nothing: "nothing",
};

function byTool({ tools }: Pick<Runtime, "tools">, name: string): KnownUndo {
  const known = tools.get(name);
  if (known === undefined) return "not_known";
  if (known.undo === "nothing") return "nothing";
  return known.undo === null ? "none" : "has";
}

/** Whoever named a tool that nobody declared, or one that only reads, could name any: it spares nobody a look. */
function byAgent({ tools }: Pick<Runtime, "tools">, name: string): KnownUndo {
  const known = tools.get(name);
  return known === undefined || known.rules.effectClass === "read" ? "claimed" : "named";
}

/** `call`: what its workflow recorded with the call, where an agent drives it. */
export function knownUndo(
  runtime: Pick<Runtime, "tools">,
  { effectClass, within, undo, tool }: LiveAction,
  call: CallUndo | undefined,
): KnownUndo {
  if (effectClass === "read") return "nothing";
  // What takes something back is not itself taken back.
  if (within === undefined || within.undoes !== null) return "none";
  if (undo !== undefined) return byAgent(runtime, undo.tool);
  if (call !== undefined) return OF_CALL[call];
  return isStep(within.op, tool) ? "not_known" : byTool(runtime, tool);
}
