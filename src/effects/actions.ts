/** Reading actions and their receipts. A receipt is signed, with its path to a seal, when asked for. */
import { checkFields, checkOneOf, rejectInput } from "../kernel/fields.ts";

const LIST_ORDERS = ["oldest", "newest"];

const ACTION_PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"];

function checkPageLimit({ limit }: { readonly limit?: unknown }): void {
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 1))
    rejectInput("A limit is a whole number of at least 1.");
}

export function checkActionPage<Given extends object>(page: Given): Given {
  const given: { phase?: unknown; order?: unknown } = checkFields("A page of actions", page, [
    "phase",
    "limit",
    "order",
  ]);
  if (given.phase === undefined)
    rejectInput(`A page of actions has a phase: one of ${ACTION_PHASES.join(", ")}.`);
  checkOneOf("An action's phase", given.phase, ACTION_PHASES);
  checkPageLimit(page);
  checkOneOf("A list's order", given.order, LIST_ORDERS);
  return page;
}
