/**
 * The built client in a context that has what browsers have and nothing of Node, as a page would import it: as it is,
 * without another bundle. Runs with --experimental-vm-modules.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import vm from "node:vm";

const [door, server] = process.argv.slice(2);

const WEB = [
  "AbortController",
  "AbortSignal",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "clearTimeout",
];
const MORE = ["crypto", "fetch", "setTimeout", "atob"];
const web = Object.fromEntries([...WEB, ...MORE].map((name) => [name, globalThis[name]]));
const told = [];
const page = vm.createContext(
  { ...web, server, tell: (text) => void told.push(text) },
  {
    codeGeneration: { strings: false, wasm: false },
  },
);

const modules = new Map();
function moduleAt(file) {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const made = new vm.SourceTextModule(readFileSync(file, "utf8"), { context: page, identifier: file });
  modules.set(file, made);
  return made;
}

/** Only files beside it: a page has no packages. */
function link(specifier, from) {
  if (!specifier.startsWith("./")) throw new Error(`${from.identifier} imports ${specifier}`);
  return moduleAt(join(dirname(from.identifier), specifier));
}

const SCRIPT = `
import { createClient, isClientError } from "./client.js";
const client = createClient({ server });
const limit = (n) => ({ limit: { currency: "USD", micros: String(n) }, by: "ann" });
const events = client.events({ streams: ["budget"], after: 0 });
for (const n of [1, 2, 3]) await client.budgets.limit("b" + n, limit(n));
const heard = [];
for await (const { stream } of events) {
  heard.push(stream);
  if (heard.length === 3) break;
}
const { intent_id } = await client.intents.send({ intent_type: "look", to_agent: "agent:b", from: "agent:a" });
const waited = client.waitForIntent(intent_id);
await client.intents.answer(intent_id, { data: { seen: true }, by: "agent:b" });
const { data } = await waited;
const refused = await client.approvals.get("apr_none").catch((error) => isClientError(error) && error.code);
const node = ["process", "Buffer", "require", "global", "setImmediate"].filter((name) => name in globalThis);
tell(JSON.stringify({ heard, data, refused, node }));
`;

const entry = new vm.SourceTextModule(SCRIPT, { context: page, identifier: join(dirname(door), "page.js") });
await entry.link(link);
await entry.evaluate();
console.log(told.join("\n"));
