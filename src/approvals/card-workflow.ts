/**
 * The workflow on a card: what it did before and after the question, what can be undone, and what a rejection does.
 * - Each entry is read once, however often the card is read: an agent that calls endlessly makes no card slow.
 * - The cache is bounded, in workflows and in entries overall. The most recently used stay.
 * - Effects begun before the question are separate from later ones, which are no grounds for it. Both show their
 *   current state.
 */

import type { SettledAnswer } from "../effects/rules/receipt.ts";
import { isStep, type LiveAction } from "../effects/state.ts";
import { previewOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { StateOf } from "../states.ts";
import type { TenantStore } from "../stores/store.ts";
import { entriesOf, entryAt } from "../workflows/entries.ts";
import type { CallUndo, Snapshot } from "../workflows/events.ts";
import { openSnapshotArtifact } from "../workflows/read.ts";
import type { WorkflowEntry } from "../workflows/rules/operations.ts";
import type { LiveWorkflow } from "../workflows/state.ts";
import { readActions } from "./card-history.ts";
import type { Card } from "./card-schema.ts";
import { type AtStake, isIrreversible, isTakenBack, type KnownUndo, rejectionOf } from "./rules/card.ts";
import type { LiveApproval } from "./state.ts";

// What cards need from a workflow's entries, cached as they are read.
type Call = {
  readonly action: string;
  readonly seq: number;
  readonly at: number;
  readonly undo: CallUndo | undefined;
  /** The call had no effect. */
  isVoid: boolean;
};

type Child = { readonly name: string; readonly seq: number; status: string };

/** A new attempt began at `seq`: everything after `toSeq` was rolled back. */
type Rollback = { readonly seq: number; readonly toSeq: number };

type Notes = {
  readonly calls: Map<string, Call>;
  readonly undone: Set<string>;
  /** By approval: the first entry that names it. */
  readonly asked: Map<string, number>;
  /** By approval: the entry of its checkpoint. */
  readonly checkpoints: Map<string, number>;
  readonly children: Map<string, Child>;
  readonly rollbacks: Rollback[];
};

type Notebook = { readonly notes: Notes; readSeq: number; reading: Promise<void> };

const MOST = { workflows: 100, notes: 200_000 };
const kept = new WeakMap<TenantStore["store"], Map<string, Notebook>>();

const emptyNotebook = (): Notebook => ({
  notes: {
    calls: new Map(),
    undone: new Set(),
    asked: new Map(),
    checkpoints: new Map(),
    children: new Map(),
    rollbacks: [],
  },
  readSeq: 0,
  reading: Promise.resolve(),
});

const sizeOf = ({ notes: { calls, undone, asked, children } }: Notebook): number =>
  calls.size + undone.size + asked.size + children.size;

/** Evicts the least recently used first. */
function forget(all: Map<string, Notebook>, most: typeof MOST): void {
  let size = [...all.values()].reduce((sum, one) => sum + sizeOf(one), 0);
  for (const [name, one] of all) {
    if (all.size === 1 || (all.size <= most.workflows && size <= most.notes)) return;
    all.delete(name);
    size -= sizeOf(one);
  }
}

function noteChild(children: Notes["children"], { type, seq, body }: WorkflowEntry): void {
  const id = String(body["child"]);
  if (type === "child.spawned") children.set(id, { name: String(body["name"]), seq, status: "open" });
  const child = children.get(id);
  if (type === "child.ended" && child !== undefined) child.status = String(body["status"]);
}

function note(notes: Notes, entry: WorkflowEntry): void {
  const { calls, undone, asked, checkpoints, children, rollbacks } = notes;
  const { type, seq, at, body } = entry;
  noteChild(children, entry);
  const { approval } = body;
  if (typeof approval === "string") {
    if (!asked.has(approval)) asked.set(approval, seq);
    if (type === "checkpoint.reached" || type === "checkpoint.raised") checkpoints.set(approval, seq);
  }
  const action = String(body["action"]);
  const call = calls.get(action);
  if (type === "call.made" && call === undefined)
    calls.set(action, { action, seq, at, isVoid: false, undo: body["undo"] as CallUndo | undefined });
  if (type === "call.settled" && call !== undefined)
    call.isVoid = (body["answer"] as unknown as SettledAnswer).executed === false;
  if (type === "compensation.settled" && body["status"] === "undone") undone.add(String(body["undoes"]));
  if (type === "rollback.ended" && body["after"] === "again")
    rollbacks.push({ seq, toSeq: Number(body["toSeq"]) });
}

export async function notesOf(place: TenantStore, workflow: string, most = MOST): Promise<Notes> {
  const all = kept.get(place.store) ?? new Map<string, Notebook>();
  kept.set(place.store, all);
  const name = `${place.tenant}/${workflow}`;
  const book = all.get(name) ?? emptyNotebook();
  all.delete(name);
  all.set(name, book);
  const readOn = async () => {
    for await (const entry of entriesOf(place, workflow, book.readSeq + 1)) {
      note(book.notes, entry);
      book.readSeq = entry.seq;
    }
  };
  // One reader at a time: two would both continue from the same entry.
  book.reading = book.reading.then(readOn, readOn);
  await book.reading;
  forget(all, most);
  return book.notes;
}

/** A checkpoint that was reached, or raised by a monitor, which does not know every undo. */
type Checkpoint = AtStake & { readonly snapshot: Snapshot; readonly isRaised: boolean };
type Done = Omit<NonNullable<Card["workflow"]>["done"][number], "args" | "isSince"> & {
  readonly seq: number;
  /** Its arguments as the journal stores them. */
  readonly stored: Json;
  readonly undo: KnownUndo;
};
/** Newest first. `total` also counts those that are not listed. */
type DoneList = { readonly done: readonly Done[]; readonly total: number };
/** As of the question: the entry that asked it, and its checkpoint if it is about one. */
type SoFar = Pick<Notes, "calls" | "undone" | "children" | "rollbacks"> & {
  readonly askedSeq: number;
  readonly checkpoint: Checkpoint | undefined;
};

async function readSoFar(place: TenantStore, workflow: string, id: string, action: string): Promise<SoFar> {
  const { asked, checkpoints, ...notes } = await notesOf(place, workflow);
  const seq = checkpoints.get(id);
  const entry = seq === undefined ? undefined : await entryAt(place, workflow, seq);
  const isRaised = entry?.type === "checkpoint.raised";
  const checkpoint = entry && { ...(entry.body as unknown as Checkpoint), isRaised };
  const never = Number.POSITIVE_INFINITY;
  const askedSeq = Math.min(asked.get(id) ?? never, notes.calls.get(action)?.seq ?? never);
  return { ...notes, askedSeq, checkpoint };
}

/** At the checkpoint, the process that runs the definition listed what cannot be undone: the rest can, or need not. */
function undoNow(runtime: Runtime, { checkpoint }: SoFar, call: Call, state: LiveAction): KnownUndo {
  if (checkpoint?.irreversible.some(({ action }) => action === call.action)) return "none";
  const known = knownUndo(runtime, state, call.undo);
  const isTold = checkpoint !== undefined && !checkpoint.isRaised && state.phase === "applied";
  return known === "not_known" && isTold ? "has" : known;
}

const MOST_DONE = 100;

async function readDone(runtime: Runtime, soFar: SoFar, calls: readonly Call[]): Promise<DoneList> {
  const read = calls.slice(0, MOST_DONE);
  const actions = read.map(({ action }) => action);
  const states = await readActions(runtime, actions);
  const done = read.flatMap((call, index): Done[] => {
    const state = states[index];
    if (state?.phase !== "running" && state?.phase !== "applied" && state?.phase !== "in_doubt") return [];
    const { action, seq } = call;
    const { tool, effectClass, phase, effect, args } = state;
    const undo = undoNow(runtime, soFar, call, state);
    const isUndone = soFar.undone.has(action);
    const facts = { action, tool, effectClass, phase, at: effect.startedAt, isUndone, seq, undo };
    const cannotUndo = undo === "none" && !isUndone;
    return [{ ...facts, stored: args, canUndo: isTakenBack(undo) && !isUndone, cannotUndo }];
  });
  return { done, total: calls.length - read.length + done.length };
}

/** Excludes the action in question. `done` had begun when it was asked, `since` began later. */
async function readEffects(runtime: Runtime, soFar: SoFar, { action, requestedAt }: LiveApproval) {
  // For calls with the same timestamp, the order of the entries decides.
  const isLater = ({ at, seq }: Call) => (at === requestedAt ? seq > soFar.askedSeq : at > requestedAt);
  const others = [...soFar.calls.values()].filter((one) => !one.isVoid && one.action !== action).reverse();
  const those = (are: boolean) => others.filter((one) => isLater(one) === are);
  const earlier = await readDone(runtime, soFar, those(false));
  const later = await readDone(runtime, soFar, those(true));
  // A call that was made before the question may have begun after it.
  const late = earlier.done.filter(({ at }) => at > requestedAt);
  return {
    done: earlier.done.filter(({ at }) => at <= requestedAt),
    total: earlier.total - late.length,
    since: { done: [...later.done, ...late], total: later.total + late.length },
  };
}

/** Of a child's effects only the irreversible ones are known here. Effects with an unknown undo are in no list. */
function rejectionOnCard(
  state: LiveWorkflow,
  stake: AtStake,
  done: readonly Done[],
): NonNullable<Card["rejecting"]> {
  const { after, ...rejection } = rejectionOf(state, stake);
  const left = done.filter((one) => !one.isUndone && one.undo !== "nothing" && one.phase === "applied");
  const tools = (some: readonly { readonly tool: string }[]) => some.map(({ tool }) => tool);
  const staying = (some: readonly Pick<Done, "action" | "tool">[]) => {
    return { stays: tools(some), permanent: some.map(({ action, tool }) => ({ action, tool })) };
  };
  if (rejection.isEnd) return { ...rejection, undone: [], claimed: [], ...staying(left) };
  const over = left.filter(({ seq }) => seq > after);
  const undone = tools(over.filter(({ undo }) => isTakenBack(undo)));
  const claimed = tools(over.filter(({ undo }) => undo === "claimed"));
  return { ...rejection, undone, claimed, ...staying(stake.irreversible.toReversed()) };
}

/** Whether a rejection would go back beyond an entry. What an earlier attempt rolled back does not count. */
type IsSince = (seq: number) => boolean;

function sinceEntry({ rollbacks, askedSeq }: SoFar, after: number): IsSince {
  const before = rollbacks.filter(({ seq }) => seq < askedSeq);
  return (entry) => entry > after && before.every(({ seq, toSeq }) => entry <= toSeq || entry > seq);
}

/** The cut may have split a character. */
const showEffect =
  (isSince: IsSince) =>
  ({ stored, ...one }: Done) => ({
    ...one,
    args: previewOf(stored).toWellFormed(),
    isSince: isSince(one.seq),
  });

/** Those that had been started when it was asked, newest first. */
const listChildren = ({ children, askedSeq }: SoFar, isSince: IsSince) =>
  [...children]
    .filter(([, { seq }]) => seq < askedSeq && isSince(seq))
    .map(([workflow, { name, status }]) => ({ workflow, name, status }))
    .reverse();

/** undefined if it is not available: people can decide without it. */
async function snapshotUnlessGone(opened: Promise<Json>): Promise<JsonObject | undefined> {
  try {
    const snapshot = await opened;
    return isJsonObject(snapshot) ? snapshot : undefined;
  } catch (error) {
    if (error instanceof HoldpointError) return undefined;
    throw error;
  }
}

/** The approval `id`, and the workflow in which it was requested. */
type AskedIn = {
  readonly id: string;
  readonly approval: LiveApproval;
  readonly workflow: string | null;
  readonly state: StateOf<"workflow"> | null;
};
const NO_WORKFLOW = { workflow: null, rejecting: null, snapshot: null, callUndo: undefined };

/** `callUndo`: how the call in question is undone, if its agent drives the workflow. */
export async function readWorkflow(runtime: Runtime, { id, approval, workflow, state }: AskedIn) {
  if (workflow === null || state === null || state.status === "none") return NO_WORKFLOW;
  const soFar = await readSoFar(runtime, workflow, id, approval.action);
  const { done, total, since } = await readEffects(runtime, soFar, approval);
  const { name, status, generation: attempt, attempts } = state;
  const cannotUndo = done.filter(({ undo, isUndone }) => !isUndone && isIrreversible(undo)).length;
  const { checkpoint } = soFar;
  const snapshot =
    checkpoint && (await snapshotUnlessGone(openSnapshotArtifact(runtime, checkpoint.snapshot)));
  const stake = approval.status === "pending" ? checkpoint : undefined;
  const isSince =
    stake?.canRollback === true ? sinceEntry(soFar, rejectionOf(state, stake).after) : () => true;
  return {
    workflow: {
      ...{ workflow, name, status, attempt, attempts, total, cannotUndo, since: since.total },
      done: done.map(showEffect(isSince)),
      children: listChildren(soFar, isSince),
    },
    // A rollback also covers what happened while the approval was pending.
    rejecting: stake === undefined ? null : rejectionOnCard(state, stake, [...since.done, ...done]),
    snapshot: snapshot ?? null,
    callUndo: soFar.calls.get(approval.action)?.undo,
  };
}

/**
 * Whether the effect of an action would be undone, as far as this process knows. `call`: what its workflow recorded
 * with the call, if an agent drives it.
 */
export function knownUndo(
  { tools }: Pick<Runtime, "tools">,
  { effectClass, within, undo, tool }: LiveAction,
  call: CallUndo | undefined,
): KnownUndo {
  if (effectClass === "read") return "nothing";
  // An undo is not itself undone.
  if (within === undefined || within.undoes !== null) return "none";
  if (undo !== undefined) {
    const named = tools.get(undo.tool);
    // An agent could name any undeclared or read-only tool, so such an undo spares approvers no check.
    return named === undefined || named.rules.effectClass === "read" ? "claimed" : "named";
  }
  if (call !== undefined) return call === "agent" || call === "here" ? "has" : call;
  const own = isStep(within.op, tool) ? undefined : tools.get(tool);
  if (own === undefined) return "not_known";
  if (own.undo === "nothing") return "nothing";
  return own.undo === null ? "none" : "has";
}
