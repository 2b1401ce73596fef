/** What an action's classes and phases mean to people. */
export const RAN_FROM: { readonly [from: string]: string } = {
  original: "what the agent proposed, unchanged",
  supervisor_revised: "what policy made of it",
  human_revised: "what people made of it",
};

export const CLASS_WORDS: { readonly [effectClass: string]: string } = {
  read: "It only reads: it can be run again.",
  idempotent: "Repeating it does no harm.",
  keyed: "The receiver honours our key: sent again with the same key, it happens once.",
  probed: "Holdpoint can ask the receiver what became of it.",
  transactional: "It and the journal are one transaction: both are there, or neither.",
  once: "The tool promises nothing about repeating it: it is sent once and never again by itself.",
};

export const PHASE_WORDS: { readonly [phase: string]: string } = {
  open: "Proposed; nothing has begun.",
  waiting: "It waits for people.",
  running: "It is under way.",
  applied: "It happened.",
  not_applied: "It did not happen.",
  in_doubt: "Nobody knows whether it happened.",
  refused: "It was not run, and will not be.",
};
