/**
 * The store's time, kept between two of its answers. A machine's own clock may be minutes off, and what is due is due by
 * the store's: a node that looked by its own would come late, or hold what nobody needs yet.
 *
 * K1. It only says when to look: what is due is decided in the store's transaction, by the store's time.
 */
import type { Clock } from "./clock.ts";

/** Goes by its own clock until it hears the store's time, and is set by that whenever it hears it. */
export function storeClock(own: Clock): Clock {
  let ahead = 0;
  return {
    ...own,
    now: () => own.now() + ahead,
    heard: (now) => {
      ahead = now - own.now();
    },
  };
}
