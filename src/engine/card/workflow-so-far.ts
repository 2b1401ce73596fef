/** What a workflow has done until now, and what of it could be taken back. */
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
  readonly undo: CallUndo | undefined;
  /** Nothing came of it. */
  isVoid: boolean;
};

/** A checkpoint as it was reached, or raised by a monitor, which does not know every undo. */
export type Reached = AtStake & { readonly snapshot: Snapshot; readonly isRaised: boolean };

export type SoFar = {
  readonly calls: Map<string, Call>;
  readonly undone: Set<string>;
  /** Where the approval is that of a checkpoint. */
  checkpoint: Reached | undefined;
};

const isVoid = ({ body }: Entry): boolean => (body["answer"] as unknown as SettledAnswer).executed === false;

function reachedIn({ type, body }: Entry): Reached {
  const { snapshot, canRollback, irreversible } = body as unknown as Reached;
  return { snapshot, canRollback, irreversible, isRaised: type === "checkpoint.raised" };
}

function note(soFar: SoFar, entry: Entry, approval: string): void {
  const { type, seq, body } = entry;
  const action = String(body["action"]);
  switch (type) {
    case "call.made":
      soFar.calls.set(action, { action, seq, undo: body["undo"] as CallUndo | undefined, isVoid: false });
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
      if (body["approval"] === approval) soFar.checkpoint = reachedIn(entry);
  }
}

export async function readSoFar(
  place: Pick<Runtime, "store" | "tenant">,
  workflow: string,
  approval: string,
): Promise<SoFar> {
  const soFar: SoFar = { calls: new Map(), undone: new Set(), checkpoint: undefined };
  for await (const entry of entriesOf(place, workflow)) note(soFar, entry, approval);
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
export type DoneSoFar = { readonly done: readonly Done[]; readonly total: number };

const MOST_DONE = 100;

const HAPPENED: readonly LiveAction["phase"][] = ["running", "applied", "in_doubt"];

/** Whoever runs the definition said at the checkpoint what cannot be undone: the rest can, or need not. */
function undoKnown(runtime: Runtime, { checkpoint }: SoFar, call: Call, state: LiveAction): KnownUndo {
  const known = knownUndo(runtime, state, call.undo);
  if (checkpoint?.irreversible.some(({ action }) => action === call.action)) return "none";
  const isTold = checkpoint !== undefined && !checkpoint.isRaised && state.phase === "applied";
  return known === "not_known" && isTold ? "has" : known;
}

/** Beside the action that is asked about. */
export async function doneIn(runtime: Runtime, soFar: SoFar, asked: string): Promise<DoneSoFar> {
  const { store, tenant } = runtime;
  const calls = [...soFar.calls.values()].filter((one) => !one.isVoid && one.action !== asked).reverse();
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
