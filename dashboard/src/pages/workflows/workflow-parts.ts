/** Parts of a workflow whose shape the wire leaves open. */
import { fieldsOf } from "../../format/fields-of.ts";

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export type Parties = {
  readonly poster: string | null;
  readonly executor: string | null;
  readonly supervisor: string | null;
};

export function partiesOf(value: unknown): Parties {
  const fields = fieldsOf(value);
  return {
    poster: textOf(fields["poster"]),
    executor: textOf(fields["executor"]),
    supervisor: textOf(fields["supervisor"]),
  };
}

export const parentOf = (value: unknown): string | null => textOf(fieldsOf(value)["workflow"]);

/** How much of a limit; amounts are text in millionths. */
export function shareOf(micros: string, limit: string): number {
  const whole = BigInt(limit);
  return whole === 0n ? 0 : Number((BigInt(micros) * 1_000n) / whole) / 1_000;
}
