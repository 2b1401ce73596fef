/** A fresh process on a full store: opens it, shows a page of the inbox, decides one, and says what that took. */
import { holdpoint } from "../../src/index.ts";

const [folder = ""] = process.argv.slice(2);
const hp = holdpoint({ folder, mode: "existing", notify: () => undefined });
const { items } = await hp.approvals.list({ limit: 50 });
const listedMs = performance.now();
const [first] = items;
if (first === undefined) throw new Error("the inbox is empty");
await hp.approvals.approve(first.id, { by: "person:ann" });
const decidedMs = performance.now();
const memoryMb = process.resourceUsage().maxRSS / 1024;
process.stdout.write(
  JSON.stringify({
    shown: items.length,
    listedMs: Math.round(listedMs),
    decidedMs: Math.round(decidedMs),
    memoryMb: Math.round(memoryMb),
  }),
);
await hp.close();
