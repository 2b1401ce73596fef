/** What scrolls by itself has to be reached by the keyboard, though nothing in it can be pressed. */
export const SCROLLS = { tabIndex: 0 } as const;
