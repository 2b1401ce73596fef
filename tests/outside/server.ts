/** A process that gives a permit, says so, and then stays until it is killed. `node server.ts folder keyFile requestId` */
import { holdpoint } from "../../src/index.ts";

const [folder, keyFile, requestId] = process.argv.slice(2) as [string, string, string];
const hp = holdpoint({ folder, keyFile, agent: "server", notify: () => undefined });
hp.remote.tool({ name: "ship", policy: "approve" });
const holder = "0123456789abcdefghijkl";
const asked = { tool: "ship", args: { box: 1 }, requestId, agent: "agent:far", holder };
const answer = await hp.remote.propose(asked);
process.stdout.write(`${JSON.stringify(answer)}\n`);
setInterval(() => undefined, 1_000);
