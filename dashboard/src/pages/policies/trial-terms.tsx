/** Over which recorded actions a policy is tried, and what is summed up. */
import { Choice, TextField } from "../../ui/field.tsx";

export type Terms = { readonly days: number; readonly amount: string };

const WINDOWS: readonly (readonly [number, string])[] = [
  [0, "everything that was recorded"],
  [1, "the last day"],
  [7, "the last 7 days"],
  [30, "the last 30 days"],
  [90, "the last 90 days"],
];
const DAY_MS = 86_400_000;

/** As it is sent: what is not limited is not said. */
export function termsOnWire({ days, amount }: Terms, now: number) {
  return {
    ...(days === 0 ? {} : { since: new Date(now - days * DAY_MS).toISOString() }),
    ...(amount.trim() === "" ? {} : { amount: amount.trim() }),
  };
}

type Props = { readonly terms: Terms; readonly onChange: (terms: Terms) => void };

export function TrialTerms({ terms, onChange }: Props) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Choice
        label="Over"
        value={terms.days}
        onChange={(event) => onChange({ ...terms, days: Number(event.target.value) })}
      >
        {WINDOWS.map(([days, words]) => (
          <option key={days} value={days}>
            {words}
          </option>
        ))}
      </Choice>
      <TextField
        label="Argument to sum up (may be left out)"
        hint="Such as amount_usd: its sums stand beside the counts."
        value={terms.amount}
        spellCheck={false}
        onChange={(event) => onChange({ ...terms, amount: event.target.value })}
      />
    </div>
  );
}
