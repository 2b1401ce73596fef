/**
 * What cards need of a workflow's entries, noted as they are read.
 *
 * N1. An entry is read once, however often somebody looks: an agent that calls without end makes nobody's card dear.
 * N2. What is kept is bounded: of so many workflows, and so many entries of all of them; what was looked at last stays.
 */
import type { SettledAnswer } from "../../core/action/settled-answer.ts";
import type { CallUndo } from "../../core/workflow/events.ts";
import type { Runtime } from "../runtime.ts";
import { entriesOf } from "../workflow/entries.ts";
import type { Entry } from "../workflow/recorded.ts";

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
