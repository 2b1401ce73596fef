/** What a person writes to give a standing grant, checked before anything is looked at. */

import { shown } from "../core/error-text.ts";
import { amountFault, whenFault } from "../core/grant/condition.ts";
import type { GrantLimit } from "../core/grant/events.ts";
import type { JsonObject } from "../core/json.ts";
import { type Money, moneyToJson } from "../core/money.ts";
import { checkAgent, checkFields, wrong } from "./check-call.ts";
import { checkAmount } from "./define-tool.ts";
import { LONGEST_DAYS } from "./limits.ts";
import { checkSaid, type Said } from "./operate.ts";

/** What is permitted, how often, for how much and how long. */
export type GrantOffer = Said & {
  readonly tool: string;
  /** An expression over `args` that has to be true, such as `args.amount_usd <= 100`; without one, any arguments. */
  readonly when?: string;
  /** Only for this agent; without one, for whichever asks. */
  readonly agent?: string;
  /** How often it may be used. */
  readonly uses: number;
  /** How long it lasts, in milliseconds; at most 90 days. */
  readonly forMs: number;
  /** What all uses may come to together; needs `amount`. */
  readonly total?: Money;
  /** An expression over `args` that gives what one use comes to, in units of the total's currency. */
  readonly amount?: string;
};

export type GrantPage = {
  /** `active` unless set. */
  readonly status?: "active" | "used_up" | "expired" | "revoked" | "any";
  readonly tool?: string;
  readonly limit?: number;
  readonly after?: string;
};

const FIELDS = ["tool", "by", "reason", "uses", "forMs", "when", "agent", "total", "amount"];
const DAY_MS = 86_400_000;
const MOST_USES = 1_000_000;
const NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;

function checkText(field: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string" || !value.isWellFormed()) wrong(`"${field}" is an expression, as text.`);
}

function refuseFault(field: string, text: string, fault: string | undefined): void {
  if (fault !== undefined) wrong(`"${field}" cannot be used: ${fault}. It is "${shown(text)}".`);
}

/** Against the tool's arguments, as far as they are known. */
export function checkExpressions({ when, amount }: GrantOffer, schema: JsonObject | null): void {
  if (when !== undefined) refuseFault("when", when, whenFault(when, schema));
  if (amount !== undefined) refuseFault("amount", amount, amountFault(amount, schema));
}

function checkTotal({ total, amount }: GrantOffer): void {
  if ((total === undefined) !== (amount === undefined))
    wrong("A total goes together with an amount: the expression that says what one use comes to.");
  if (total !== undefined) checkAmount("A grant's total", total);
}

export function checkOffer(given: GrantOffer): GrantOffer {
  const offer = checkFields("A grant", given, FIELDS);
  const { tool, uses, forMs, when, amount, agent } = offer;
  if (typeof tool !== "string" || !NAME.test(tool)) wrong(`"${shown(tool)}" is not a tool's name.`);
  if (!(Number.isSafeInteger(uses) && uses >= 1 && uses <= MOST_USES))
    wrong(`A grant has a number of uses: a whole number from 1 to ${MOST_USES}.`);
  if (!(Number.isSafeInteger(forMs) && forMs >= 1 && forMs <= LONGEST_DAYS * DAY_MS))
    wrong(`A grant ends: after at most ${LONGEST_DAYS} days, given as forMs in whole milliseconds.`);
  checkSaid(offer);
  checkAgent(agent);
  checkText("when", when);
  checkText("amount", amount);
  checkTotal(offer);
  checkExpressions(offer, null);
  return { ...offer };
}

export function limitOfOffer({ total, amount }: Pick<GrantOffer, "total" | "amount">): GrantLimit | null {
  return total === undefined || amount === undefined ? null : { ...moneyToJson(total), amount };
}

const STATUSES = ["active", "used_up", "expired", "revoked", "any"];

export function checkGrantPage(page: GrantPage): GrantPage {
  const { status, tool, limit, after } = checkFields("A page of grants", page, [
    "status",
    "tool",
    "limit",
    "after",
  ]);
  if (status !== undefined && !STATUSES.includes(status))
    wrong(`A grant's status is one of ${STATUSES.join(", ")}, not "${shown(status)}".`);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 1_000))
    wrong("A limit is a whole number from 1 to 1000.");
  if (tool !== undefined && typeof tool !== "string") wrong(`"tool" is a text.`);
  if (after !== undefined && typeof after !== "string") wrong(`"after" is a text.`);
  return page;
}
