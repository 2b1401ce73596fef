/** Conditions over arguments that a suggestion may have: upper bounds of numbers, and values that are always the same. */
import type { Fields, Sample, Scalar } from "./samples.ts";

export type Condition =
  | { readonly kind: "most"; readonly field: string; readonly value: number }
  | { readonly kind: "is"; readonly field: string; readonly value: Scalar };

export function holds({ kind, field, value }: Condition, fields: Fields): boolean {
  const found = fields[field];
  return kind === "most" ? typeof found === "number" && found <= value : found === value;
}

export const allHold = (conditions: readonly Condition[], { fields }: Sample): boolean =>
  conditions.every((condition) => holds(condition, fields));

/** Of the fields that every one of them has. */
export function sharedFields(samples: readonly Sample[]): readonly string[] {
  const [first, ...rest] = samples;
  const names = Object.keys(first?.fields ?? {}).sort();
  return names.filter((name) => rest.every(({ fields }) => fields[name] !== undefined));
}

/** A number that names something is no amount: there is no more or less of it. */
const IDENTIFIES = /(^|_)id$|[a-z]Id$/;

function conditionOn(field: string, samples: readonly Sample[]): Condition | undefined {
  const values = samples.map(({ fields }) => fields[field]);
  const [value] = values;
  const numbers = values.filter((one) => typeof one === "number");
  if (numbers.length === values.length && !IDENTIFIES.test(field))
    return { kind: "most", field, value: numbers.reduce((most, one) => Math.max(most, one)) };
  const isSame = value !== undefined && values.every((other) => other === value);
  return isSame ? { kind: "is", field, value } : undefined;
}

/** The narrowest that all of them meet. */
export function narrowest(samples: readonly Sample[]): readonly Condition[] {
  return sharedFields(samples).flatMap((field) => conditionOn(field, samples) ?? []);
}

/** As an expression of the policy language. `optional`: fields that some actions do not have; a missing one would block. */
export function expressionOf(conditions: readonly Condition[], optional: ReadonlySet<string>): string {
  return conditions
    .map(({ kind, field, value }) => {
      const said = kind === "most" ? `<= ${value}` : `== ${JSON.stringify(value)}`;
      return `${optional.has(field) ? `has(args.${field}) && ` : ""}args.${field} ${said}`;
    })
    .join(" && ");
}
