/** A tool that a receiver outside counts, in two definitions of the same name: the second looks twice, and writes log lines. */
import type { Holdpoint } from "../../../src/index.ts";

export type Order = { readonly n: number; readonly receiver: string };

type Parcel = Order & { readonly part: string };

/** Not to be sent twice: whoever does not know what became of it has to ask a person. */
export const shipping = (hp: Holdpoint) =>
  hp.gate({
    name: "ship",
    policy: "approve",
    effect: "once",
    run: async ({ n, part, receiver }: Parcel, { idempotencyKey }) => {
      const body = JSON.stringify({ n, part, key: idempotencyKey });
      const answer = await fetch(receiver, { method: "POST", body });
      if (!answer.ok) throw new Error(`the receiver said ${answer.status}`);
      return { n, part };
    },
  });
