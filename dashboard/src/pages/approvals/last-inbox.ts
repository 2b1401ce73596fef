/** How the inbox was last looked at: a card leads back there, and on to its neighbours in that list. */
import type { Asked } from "../../api/approvals.ts";

export const MINE = { status: "pending", mine: "true" } as const;

export type LookedAt = {
  readonly address: { readonly [name: string]: string };
  /** Of what waits. */
  readonly asked: Asked;
  /** It is all that waits for whoever looks. */
  readonly isWhole: boolean;
};

let last: LookedAt = { address: {}, asked: MINE, isWhole: true };

export const lastInbox = (): LookedAt => last;
export const rememberInbox = (now: LookedAt): void => {
  last = now;
};
