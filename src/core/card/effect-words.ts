/** What is known about repeating and undoing an action, in the words that everybody is shown. */
import type { EffectClass } from "../tool-rules.ts";

/**
 * Whether what an action did is taken back when its workflow goes back. `none`: by nobody, as it stands in no workflow, or its
 * tool has no undo. `nothing`: there is nothing to take back. `not_known`: whoever runs the workflow knows. `named`: by a call of a
 * declared tool that the agent chose. `claimed`: by one that only the agent knows, which proves nothing.
 */
export const KNOWN_UNDOS = ["has", "named", "claimed", "none", "nothing", "not_known"] as const;
export type KnownUndo = (typeof KNOWN_UNDOS)[number];

const REPEATING: { readonly [name in Exclude<EffectClass, "read">]: string } = {
  idempotent: "doing it again changes nothing more",
  keyed: "its receiver is told a key and does it once",
  probed: "its receiver can be asked whether it happened",
  transactional: "it is written in one transaction with the journal",
  once: "nothing is known about repeating it, so it is tried once",
};

const UNDOING: { readonly [undo in KnownUndo]: string } = {
  none: "it cannot be taken back automatically",
  not_known: "going back, its workflow takes it back if the tool has an undo",
  has: "going back, its workflow takes it back",
  named: "going back, its workflow takes it back as the agent says, by a declared tool",
  claimed: "the agent says how it would be taken back, and nobody else does",
  nothing: "there is nothing to take back",
};

export function effectWords(effectClass: EffectClass, undo: KnownUndo): string {
  if (effectClass === "read") return "it only reads: nothing to take back";
  return `${REPEATING[effectClass]}; ${UNDOING[undo]}`;
}

/** Once it is done, nobody is known to take it back. */
export const isIrreversible = (undo: KnownUndo): boolean =>
  undo === "none" || undo === "not_known" || undo === "claimed";

export const isTakenBack = (undo: KnownUndo): boolean => undo === "has" || undo === "named";
