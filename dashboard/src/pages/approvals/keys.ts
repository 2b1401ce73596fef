/** The keys of these pages, for whoever asks which there are. */
export type Key = { readonly key: string; readonly meaning: string };

export const INBOX_KEYS: readonly Key[] = [
  { key: "j", meaning: "the next approval" },
  { key: "k", meaning: "the one before" },
  { key: "Enter", meaning: "open it" },
  { key: "x", meaning: "select it, to decide several together" },
  { key: "/", meaning: "search" },
  { key: "Esc", meaning: "select nothing" },
];

export const CARD_KEYS: readonly Key[] = [
  { key: "a", meaning: "go to Approve; Enter approves" },
  { key: "m", meaning: "modify" },
  { key: "r", meaning: "reject" },
  { key: "c", meaning: "ask for more" },
  { key: "e", meaning: "give more time" },
  { key: "j", meaning: "the next approval" },
  { key: "k", meaning: "the one before" },
  { key: "n", meaning: "the next approval, once this one is decided" },
];
