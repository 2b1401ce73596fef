/** The other process: approves what it is told, and answers when it began. Ends with the one that started it. */
import { now, type Place } from "../system.ts";
import { openHoldpoint } from "./open-holdpoint.ts";

const hp = openHoldpoint(JSON.parse(process.argv[2] ?? "") as Place);
await hp.approvals.list();

process.on("message", async (approval: string) => {
  const at = now();
  await hp.approvals.approve(approval, { by: "person:ann" });
  process.send?.(at);
});
process.on("disconnect", async () => {
  await hp.close();
  process.exit(0);
});
process.send?.("ready");
