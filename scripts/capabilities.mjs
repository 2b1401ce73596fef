// The capabilities of src/, and which of them are defined once, by contract and verbs (docs: CONTRIBUTING.md, "Counters").

/** By folder below src/. A capability of several resources has a line for each. */
export const CAPABILITIES = [
  ...["grants", "approvals", "budgets", "kill-switch", "people", "people/keys", "people/sessions"],
  ...["people/tenants", "policy", "effects", "workflows", "agents", "agents/intents", "alerts", "notify"],
  ...["supervise", "runtime"],
];

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
