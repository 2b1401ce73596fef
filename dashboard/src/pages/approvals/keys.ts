/** The keys of these pages, for whoever asks which there are. */
import type { PageKeys } from "../../shell/page-keys.ts";

export const INBOX_KEYS: PageKeys = {
  title: "In the list",
  keys: [
    { keys: "j", does: "the next one" },
    { keys: "k", does: "the one before" },
    { keys: "Enter", does: "open it" },
    { keys: "x", does: "select it, to decide several together" },
    { keys: "/", does: "search" },
    { keys: "Esc", does: "select nothing" },
  ],
};

export const CARD_KEYS: PageKeys = {
  title: "On an approval",
  keys: [
    { keys: "a", does: "go to Approve; Enter approves" },
    { keys: "m", does: "modify" },
    { keys: "r", does: "reject" },
    { keys: "c", does: "ask for more" },
    { keys: "e", does: "give more time" },
    { keys: "j", does: "the next approval" },
    { keys: "k", does: "the one before" },
    { keys: "n", does: "the next one, once this is decided" },
  ],
};
