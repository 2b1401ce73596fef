/** How long somebody waits at most: a moment. */
export type Hold = {
  readonly holdMs: number;
  /** Ends the wait early: it is answered as it stands. */
  readonly signal: AbortSignal;
};
