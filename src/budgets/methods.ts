/** Budgets: opening them, changing their limit, reading them. */

import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, isPlainObject } from "../kernel/fields.ts";
import { checkAmount, type Money } from "../kernel/money.ts";
import type { Via } from "../kernel/principal.ts";
import type { Said } from "../kernel/said.ts";
import { budgetStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { rowPage } from "../runtime/lists.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { isBudgetName, type BudgetStreamState as Kept, limitBudget } from "./stream.ts";

type CommandStore = Pick<Runtime, "store" | "tenant" | "clock">;

/** Current state of a budget. `reservations` maps an effect id to its reserved amount in micros. */
export type BudgetState = Omit<Kept, "reservations"> & {
  readonly reservations: { readonly [effect: string]: bigint };
};

/** One item of a list. `effects`: number of effects, running or in doubt, that hold a reservation. */
export type BudgetSummary = Omit<Kept, "limit" | "reservations"> & {
  readonly name: string;
  readonly limit: Money;
  readonly effects: number;
};
export type BudgetPage = { readonly limit?: number; readonly after?: string };
export type BudgetList = { readonly items: readonly BudgetSummary[]; readonly next: string | null };

function checkBudget(id: unknown): void {
  if (!isBudgetName(id))
    throw new HoldpointError("invalid_input", `"${displayValue(id)}" is not a budget's name.`);
}

function checkLimit(id: string, limit: Money): void {
  if (isPlainObject(limit) && "period" in limit)
    throw new HoldpointError(
      "invalid_input",
      `The limit of the budget "${id}" has a period, and budgets have none yet: a limit holds for as long as its budget.`,
      { next: "Leave the period out, or open a budget of its own for each period, such as refunds-2026-07." },
    );
  checkAmount(`The limit of the budget "${id}"`, limit);
}

/** Opens a budget, or changes its limit. */
export async function setBudget(
  place: CommandStore,
  id: string,
  limit: Money,
  said: string | (Via & Pick<Said, "by">),
): Promise<void> {
  const { by, ...how } = typeof said === "string" ? { by: said } : said;
  checkBudget(id);
  checkLimit(id, limit);
  const ref = budgetStream(id);
  await runCommand(place, { write: [ref] }, (draft) => {
    const before = draft.state(ref).limit;
    if (before !== null && before.currency !== limit.currency)
      throw new HoldpointError("invalid_input", `The budget "${id}" is in ${before.currency}.`);
    if (before?.micros !== limit.micros) draft.append(ref, limitBudget(limit, by, how));
  });
}

export async function getBudget(place: CommandStore, id: string): Promise<BudgetState> {
  checkBudget(id);
  const { reservations, ...state } = await readState(place, budgetStream(id));
  return { ...structuredClone(state), reservations: Object.fromEntries(reservations) };
}

async function budgetSummary(place: CommandStore, name: string): Promise<BudgetSummary | undefined> {
  const { limit, spent, reserved, overrun, reservations } = await readState(place, budgetStream(name));
  if (limit === null) return undefined;
  return { name, limit: { ...limit }, spent, reserved, overrun, effects: reservations.size };
}

const LIST = { view: "budgets", kind: "budget", isName: isBudgetName, order: "oldest" } as const;

/** Oldest first. */
export async function listBudgets(place: CommandStore, page: BudgetPage = {}): Promise<BudgetList> {
  const { limit = 100, after } = checkFields("A page of budgets", page, ["limit", "after"]);
  const { rows, next } = await rowPage(place, { ...LIST, limit, after });
  const found = await Promise.all(rows.map(({ stream }) => budgetSummary(place, stream.id)));
  return { items: found.filter((one) => one !== undefined), next };
}

export type Budgets = {
  /** Opens a budget, or changes its limit. */
  limit(id: string, limit: Money): Promise<void>;
  get(id: string): Promise<BudgetState>;
  /** Budgets that were opened, oldest first. */
  list(page?: BudgetPage): Promise<BudgetList>;
};

export function budgetsOf(open: RuntimeOpener): Budgets {
  return {
    async limit(id, limit) {
      const runtime = await open();
      await setBudget(runtime, id, limit, runtime.agent);
    },
    get: async (id) => getBudget(await open(), id),
    list: async (page = {}) => listBudgets(await open(), page),
  };
}
