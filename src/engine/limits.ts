/** Numbers and words that the command line says too: here, so that saying them loads nothing else. */

/** How many decisions of people a suggestion stands on at least. */
export const DEFAULT_MIN = 20;
/** Of a workflow that is not there. */
export const LISTED = "Check the id; `holdpoint workflows` lists them.";
