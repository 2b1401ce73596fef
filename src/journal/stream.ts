/**
 * The store's own stream: records that its history was restored or copied, and who acknowledged that. Entries committed
 * after the backup, or in the original after the copy, are not in this history and cannot be.
 */
import { eventBody, type Fold, type NewEvent } from "../kernel/stream.ts";

type Restore = {
  readonly by: string;
  readonly reason: string;
  /** The evidence of the restore or copy. */
  readonly seen: string;
  /** The history's new name. */
  readonly incarnation: string;
};
export type StoreState = {
  readonly restores: number;
  readonly last: (Restore & { readonly at: number }) | null;
};

export const storeFold: Fold<StoreState> = {
  version: 1,
  initial: { restores: 0, last: null },
  evolve(state, event) {
    const { by, reason, seen, incarnation } = eventBody("A store", event, ["store.restored"]);
    const said = {
      by: String(by),
      reason: String(reason),
      seen: String(seen),
      incarnation: String(incarnation),
    };
    return { restores: state.restores + 1, last: { ...said, at: event.at } };
  },
};

export function recordRestore({ by, reason, seen, incarnation }: Restore): NewEvent[] {
  return [{ type: "store.restored", tv: 1, body: { by, reason, seen, incarnation } }];
}
