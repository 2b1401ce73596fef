/** Waits for something by its id, and says what became of it. */
import { createClient } from "../../../src/client/client.ts";

const [server = "", kind = "", id = ""] = process.argv.slice(2);
const client = createClient({ server, credential: { key: process.env["WAITER_KEY"] ?? "" } });
const waits = {
  approval: async () => (await client.waitForApproval(id)).approval.status,
  action: async () => (await client.waitForAction(id)).action.phase,
  workflow: async () => (await client.waitForWorkflow(id)).workflow.status,
  intent: async () => (await client.waitForIntent(id)).status,
};
console.log("waiting");
console.log(await waits[kind as keyof typeof waits]());
