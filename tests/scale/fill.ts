/** Fills a store with pending approvals. */
import { holdpoint } from "../../src/index.ts";

const LANES = 500;

export async function fill(
  folder: string,
  approvals: number,
  progress: (done: number) => void,
): Promise<void> {
  const hp = holdpoint({ folder, notify: () => undefined });
  const transfer = hp.gate({ name: "transfer", policy: "escalate", run: () => null });
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < approvals; i = next++) {
      const args = { to: `account-${i}`, amount: i, memo: `payment number ${i} of a large test` };
      await transfer(args, { requestId: `transfer-${i}`, waitMs: 0 });
      if (i % 10_000 === 0) progress(i);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await hp.close();
}
