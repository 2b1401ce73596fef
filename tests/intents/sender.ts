/** A process that sends an intent and waits for it until it is killed, or prints what came. `node sender.ts folder keyFile` */
import { holdpoint } from "../../src/index.ts";

const [folder, keyFile] = process.argv.slice(2) as [string, string];
const hp = holdpoint({ folder, keyFile, agent: "planner", notify: () => undefined });
const task = { intentType: "task", toAgent: "agent://doer", payload: { sort: "mail" }, requestId: "t-1" };
const { id } = await hp.intents.send(task);
process.stdout.write(`${id}\n`);
const waited = await hp.intents.waitFor(id);
process.stdout.write(`${JSON.stringify(waited)}\n`);
await hp.close();
