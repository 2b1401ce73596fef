/** A worker process that makes guarded calls for a while: `node calling.ts <database> <seconds> <life>`. Says "ready", waits for a word, prints what it did. */
import { once } from "node:events";
import { withCrew } from "./kinds.ts";

const IN_FLIGHT = 64;
const WARM_MS = 2_000;
const [database = "", seconds = "10", life = ""] = process.argv.slice(2);

await withCrew(database, async (crew) => {
  let made = 0;
  let counted = 0;
  let isOver = false;
  const lane = async () => {
    while (!isOver) {
      await crew.performed(`${life}-${made++}`);
      counted++;
    }
  };
  await crew.performed(`${life}-first`);
  process.send?.("ready");
  await once(process, "message");
  const lanes = Array.from({ length: IN_FLIGHT }, lane);
  await new Promise((resolve) => setTimeout(resolve, WARM_MS));
  counted = 0;
  const cpu = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000));
  const calls = counted;
  const { user, system } = process.cpuUsage(cpu);
  isOver = true;
  await Promise.all(lanes);
  process.send?.({ calls, cpuMs: (user + system) / 1_000 });
});
process.disconnect?.();
