/** One process that only decides: approves most, rejects some, and says what was acknowledged. */
import { setTimeout as sleep } from "node:timers/promises";
import { holdpoint, isHoldpointError } from "../../src/index.ts";

const [folder = ""] = process.argv.slice(2);
const hp = holdpoint({ folder, mode: "existing", notify: () => undefined });

async function decide(id: string, number: number): Promise<void> {
  const by = "person:ann";
  try {
    const decided =
      number % 5 === 0
        ? await hp.approvals.reject(id, { by, reason: "every fifth is refused" })
        : await hp.approvals.approve(id, { by });
    process.stdout.write(`${JSON.stringify({ approval: id, status: decided.status })}\n`);
  } catch (error) {
    if (!isHoldpointError(error)) throw error;
  }
}

for (let number = 0; ; ) {
  const { items } = await hp.approvals.list({ limit: 50 });
  for (const item of items) await decide(item.id, number++);
  if (items.length === 0) await sleep(20);
}
