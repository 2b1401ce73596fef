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

/** Files of the definition in one place, and hand-written files that it replaces. Pages and streams keep routes by hand. */
const DEFINED = ["contract.ts", "verbs.ts"];
const BY_HAND = /^(?:(?:[\w-]+-)?methods|input|(?:[\w-]+-)?wire)\.ts$/;

/** `state`: converted, left, or both (verbs beside methods, input checks or wire forms that are written by hand). */
export function inspectCapability(name, files) {
  const own = files
    .filter((file) => file.startsWith(`src/${name}/`))
    .map((file) => file.slice(name.length + 5));
  const isWhole = DEFINED.every((file) => own.includes(file));
  const byHand = own.filter((file) => BY_HAND.test(file));
  if (isWhole) return { name, state: byHand.length > 0 ? "both" : "converted", byHand };
  return { name, state: "left", byHand };
}
