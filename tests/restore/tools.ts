/** What the programs of the drill do: every effect is a request to the effect server, named by its order. */
import type { GatedTool, Holdpoint } from "../../src/index.ts";
import { createReceiver } from "../crash/receiver.ts";

export const SLOW = ["once", "keyed", "idempotent", "probed"] as const;
export const KINDS = [...SLOW, "before", "given", "held", "asked", "after"] as const;
export type Kind = (typeof KINDS)[number];

/** Made before the backup, and so to be found in it. */
export const KNOWN = KINDS.filter((kind) => kind !== "after");

export type Order = { readonly order: string };
type Tool = GatedTool<Order, string>;
export type Tools = { readonly of: (kind: Kind) => Tool };

/** `hold`: waited for after the server has applied a slow effect, before the tool returns. */
export function toolsOn(hp: Holdpoint, port: number, hold: (order: string) => Promise<void>): Tools {
  const receiver = createReceiver(port);
  const { signal } = new AbortController();
  const post = async ({ order }: Order, key: string): Promise<string> => {
    const args = { order, n: 0 };
    const { result } = await receiver.post(
      "ignores",
      { key, tool: "order", args },
      { signal, written: () => {} },
    );
    return String(result);
  };
  const plain = hp.gate({
    name: "plain",
    policy: "approve",
    run: (args: Order, { idempotencyKey }) => post(args, idempotencyKey),
  });
  const asked = hp.gate({
    name: "asked",
    policy: "escalate",
    run: (args: Order, { idempotencyKey }) => post(args, idempotencyKey),
  });
  const slow = new Map<Kind, Tool>(
    SLOW.map((effect) => [
      effect,
      hp.gate({
        name: `slow-${effect}`,
        effect,
        policy: "approve",
        ...(effect === "probed" && { verify: async () => ({ answer: "unknown" as const }) }),
        async run(args: Order, { idempotencyKey }) {
          const result = await post(args, idempotencyKey);
          await hold(args.order);
          return result;
        },
      }),
    ]),
  );
  return {
    of: (kind) => slow.get(kind) ?? (kind === "given" || kind === "asked" ? asked : plain),
  };
}

export const orderOf = (round: number, kind: Kind): string => `${round}-${kind}`;
