// The capabilities of src/, and which of them are defined once, by contract and verbs (docs: CONTRIBUTING.md, "Counters").
import fs from "node:fs";
import { fileURLToPath } from "node:url";

const source = (name) => fileURLToPath(new URL(`../src/${name}`, import.meta.url));
const [, listed = ""] =
  /FOLDERS = \[([^;]*)\];/.exec(fs.readFileSync(source("kernel/registry.ts"), "utf8")) ?? [];
const folders = [...listed.matchAll(/"([\w-]+)"/g)].map(([, name]) => name);

/** A folder in a capability's folder is a capability if it has a stream or a contract. */
const within = (folder) =>
  fs
    .readdirSync(source(folder))
    .map((name) => `${folder}/${name}`)
    .filter((name) => ["stream.ts", "contract.ts"].some((file) => fs.existsSync(source(`${name}/${file}`))));

/** Those that offer no verb, and why. `tests/http/by-hand.ts` does the same for routes. */
export const NO_VERBS = {
  "people/sessions": "its routes are about the caller's own cookie; `people.loginLink` is where one begins",
  supervise: "`hp.supervise` takes functions and a model, so it has no route",
};

/** By folder below src/, in the order of the registry. */
export const CAPABILITIES = [...folders.flatMap((name) => [name, ...within(name)]), "runtime"].filter(
  (name) => !Object.hasOwn(NO_VERBS, name),
);

/** Files of the definition in one place, and hand-written files that it replaces. */
const DEFINED = ["contract.ts", "verbs.ts"];
const BY_HAND = /(?:^|[/-])(?:methods|wire|routes|checks|input|forms)\.ts$/;

/** Hand-written files that stay, and why. Their routes are in `tests/http/by-hand.ts`, with the reason for each. */
export const STAY_BY_HAND = {
  "src/agents/creation-input.ts": "the body of `POST /api/workflows`, which is the seed's",
  "src/agents/intents/long-poll-routes.ts": "long polls and a stream: a contract answers one value at once",
  "src/agents/remote-checks.ts": "checks what `hp.remote.workflows.create` takes, whose route is the seed's",
  "src/agents/seed-forms.ts": "the fields of the seed's surface, which programs that exist read",
  "src/agents/seed-routes.ts": "the routes of the seed's surface, and the verbs that answer in its form",
  "src/approvals/routes.ts": "pages, and what a page shows of several resources",
  "src/people/sessions/routes.ts": "about the caller's own cookie",
  "src/policy/routes.ts": "has no route: what only a server limits of the verbs",
};

/** `state`: converted, left, or both (verbs beside hand-written files that have no reason to stay). */
export function inspectCapability(name, files) {
  const folder = `src/${name}/`;
  const own = files.filter((file) => file.startsWith(folder));
  const isWhole = DEFINED.every((file) => own.includes(folder + file));
  const byHand = own
    .filter((file) => BY_HAND.test(file) && !Object.hasOwn(STAY_BY_HAND, file))
    .map((file) => file.slice(folder.length));
  if (isWhole) return { name, state: byHand.length > 0 ? "both" : "converted", byHand };
  return { name, state: "left", byHand };
}
