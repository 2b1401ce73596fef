/** A store with very many questions, written as one program would write them: several at once. */
import type { Holdpoint } from "../../src/index.ts";

const AT_ONCE = 200;

/** Their order is that of their numbers: `order-0` waits longest. */
export async function fillInbox(hp: Holdpoint, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const asked = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => from + index);
    await Promise.all(
      asked.map((number) =>
        hp.remote.propose({
          ...{ tool: "orders.refund", agent: `agent:desk-${number % 7}` },
          args: { order: `order-${number}`, amount_usd: 10 + (number % 90) },
          rationale: "one of many",
        }),
      ),
    );
  }
}
