/**
 * Where things are: options, then environment, then default. The data folder is found upward, like git's. Small enough
 * for the command line to load at start.
 */

/** How many decisions of people a suggestion stands on at least. */
export const DEFAULT_MIN_DECISIONS = 20;
