/** Implementation of the verbs of budgets. */
import { unknownId } from "../kernel/contract.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import { budgetStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { rowPage } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import { capability, decideVerb, readVerb } from "../runtime/verb.ts";
import { type Budget, type BudgetSummary, budgets } from "./contract.ts";
import { type BudgetStreamState, isBudgetName, limitBudget } from "./stream.ts";

function checkName(name: string): void {
  if (!isBudgetName(name)) rejectInput(`"${displayValue(name)}" is not a budget's name.`);
}

function describe(name: string, { limit, reservations, ...amounts }: BudgetStreamState): Budget {
  if (limit === null) throw unknownId(budgets, name);
  return { name, limit: { ...limit }, ...amounts, reservations: Object.fromEntries(reservations) };
}

async function budgetSummary(runtime: Runtime, name: string): Promise<BudgetSummary | undefined> {
  const { limit, reservations, ...amounts } = await readState(runtime, budgetStream(name));
  return limit === null ? undefined : { name, limit: { ...limit }, ...amounts, effects: reservations.size };
}

const LIST = { view: "budgets", kind: "budget", isName: isBudgetName, order: "oldest" } as const;

export const budgetVerbs = capability(budgets, {
  list: readVerb(async (runtime, { limit = 100, after }) => {
    const { rows, next } = await rowPage(runtime, { ...LIST, limit, after });
    const found = await Promise.all(rows.map(({ stream }) => budgetSummary(runtime, stream.id)));
    return { items: found.filter((one) => one !== undefined), next };
  }),
  get: readVerb(async (runtime, { name }) => {
    checkName(name);
    return describe(name, await readState(runtime, budgetStream(name)));
  }),
  limit: decideVerb(
    (draft, { name, limit, by }, how) => {
      const ref = budgetStream(name);
      const { limit: before } = draft.state(ref);
      if (before !== null && before.currency !== limit.currency)
        throw new HoldpointError("invalid_input", `The budget "${name}" is in ${before.currency}.`);
      if (before?.micros !== limit.micros) draft.append(ref, limitBudget(limit, by ?? how.agent, how));
      return describe(name, draft.state(ref));
    },
    (_runtime, budget) => budget,
    (_runtime, input) => {
      checkName(input.name);
      return { input, needs: { write: [budgetStream(input.name)] } };
    },
  ),
});
