/** The terms of a standing grant, as they are typed and as they are sent. */
import type { InputOf } from "holdpoint/client";
import { type Fields, fieldsOf } from "../../format/fields-of.ts";
import { amountFault, microsOf, typedOf } from "../../format/money-input.ts";

export type GrantOffer = Omit<InputOf<"POST /api/grants">, "by">;

export type GrantForm = {
  readonly tool: string;
  readonly agent: string;
  readonly when: string;
  readonly uses: string;
  readonly seconds: number;
  readonly total: string;
  readonly currency: string;
  readonly amount: string;
  readonly reason: string;
};

const WEEK = 604_800;
export const LONGEST_SECONDS = 7_776_000;
export const BLANK_GRANT: GrantForm = {
  tool: "",
  agent: "",
  when: "",
  uses: "20",
  seconds: WEEK,
  total: "",
  currency: "USD",
  amount: "",
  reason: "",
};

const textIn = (fields: Fields, name: string, otherwise = ""): string => {
  const value = fields[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
};

/** A body for `POST /api/grants`, laid out to be read and changed before it is given. */
export function grantFormOf(offer: unknown): GrantForm {
  const fields = fieldsOf(offer);
  const total = fieldsOf(fields["total"]);
  const micros = textIn(total, "micros");
  return {
    tool: textIn(fields, "tool"),
    agent: textIn(fields, "agent"),
    when: textIn(fields, "when"),
    uses: textIn(fields, "uses", BLANK_GRANT.uses),
    seconds: Number(textIn(fields, "for_seconds", String(WEEK))),
    total: micros === "" ? "" : typedOf({ micros }),
    currency: textIn(total, "currency", BLANK_GRANT.currency),
    amount: textIn(fields, "amount"),
    reason: textIn(fields, "reason"),
  };
}

export type GrantFaults = { readonly [field in keyof GrantForm]?: string };

const isCount = (typed: string): boolean => /^[1-9]\d{0,6}$/.test(typed.trim());

/** What keeps it from being sent. Whether it is right, the server says. */
export function grantFaults({ uses, total, currency, amount }: GrantForm): GrantFaults {
  const hasTotal = total.trim() !== "";
  const wrong = hasTotal ? amountFault(total) : undefined;
  return {
    ...(isCount(uses) ? {} : { uses: "A whole number, 1 or more." }),
    ...(wrong === undefined ? {} : { total: wrong }),
    ...(hasTotal && currency.trim() === "" ? { currency: "Of which currency?" } : {}),
    ...(hasTotal && amount.trim() === "" ? { amount: "Which argument says how much one call is?" } : {}),
  };
}

const said = <Name extends string>(name: Name, typed: string) =>
  (typed.trim() === "" ? {} : { [name]: typed.trim() }) as { readonly [key in Name]?: string };

/** Null while something is missing or cannot be read. */
export function offerOf(form: GrantForm): GrantOffer | null {
  const { tool, uses, seconds, reason, total, currency } = form;
  const isWhole = tool.trim() !== "" && reason.trim() !== "";
  if (!isWhole || Object.keys(grantFaults(form)).length > 0) return null;
  const micros = microsOf(total);
  return {
    tool: tool.trim(),
    uses: Number(uses),
    for_seconds: seconds,
    reason: reason.trim(),
    ...said("when", form.when),
    ...said("agent", form.agent),
    ...(micros === null
      ? {}
      : { total: { currency: currency.trim(), micros }, ...said("amount", form.amount) }),
  };
}
