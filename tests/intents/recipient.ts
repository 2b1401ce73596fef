/** A process that listens for an agent, says what it was handed, and answers it only if told to. */
import { holdpoint } from "../../src/index.ts";

const [folder, keyFile, mode] = process.argv.slice(2) as [string, string, string];
const hp = holdpoint({ folder, keyFile, agent: "doer", notify: () => undefined });
for await (const { intent } of hp.intents.listen("agent://doer", new AbortController().signal)) {
  process.stdout.write(`${intent.id}\n`);
  if (mode !== "answer") continue;
  await hp.intents.acknowledge(intent.id);
  await hp.intents.answer(intent.id, { data: { sorted: 12 } });
  break;
}
await hp.close();
