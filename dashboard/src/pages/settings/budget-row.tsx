/** A budget: how much of its limit is spent and reserved, and another limit. */
import { may, useSession } from "../../api/session.ts";
import { moneyText, several } from "../../format/amounts.ts";
import { shareOf } from "../../format/money-input.ts";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Strange } from "../../ui/strange.tsx";
import type { Budget } from "./budget-queries.ts";
import { LimitForm } from "./limit-form.tsx";

type Props = { readonly budget: Budget };

const heldBy = (effects: number): string =>
  effects === 0
    ? "Nothing is reserved."
    : `${several(effects, "effect")} under way or in doubt ${effects === 1 ? "holds" : "hold"} a part of it.`;

function Standing({ budget: { limit, spent_micros, reserved_micros } }: Props) {
  const amount = (micros: string) => moneyText({ currency: limit.currency, micros });
  const share = (micros: string) => shareOf(micros, limit.micros);
  return (
    <Meter
      label={`Limit ${moneyText(limit)}`}
      text={`${amount(spent_micros)} spent, ${amount(reserved_micros)} reserved`}
      parts={[
        { name: "spent", share: share(spent_micros), tone: "go" },
        { name: "reserved", share: share(reserved_micros), tone: "hold" },
      ]}
    />
  );
}

function ChangeLimit({ budget }: Props) {
  return (
    <DialogButton
      label="Change the limit"
      aria-label={`Change the limit of ${budget.name}`}
      title={`Limit of ${budget.name}`}
    >
      {({ onClose }) => <LimitForm of={budget} onClose={onClose} />}
    </DialogButton>
  );
}

export function BudgetRow({ budget }: Props) {
  const { name, limit, overrun_micros, effects } = budget;
  const canWrite = may(useSession(), "budgets:write");
  return (
    <li className="grid items-center gap-x-6 gap-y-3 p-4 sm:px-5 md:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)_auto]">
      <div className="min-w-0">
        <p className="font-mono font-semibold">
          <Strange text={name} />
        </p>
        <p className="text-small text-soft">{heldBy(effects)}</p>
        {overrun_micros === "0" ? null : (
          <p className="text-small text-stop">
            {moneyText({ currency: limit.currency, micros: overrun_micros })} more was spent than there was.
          </p>
        )}
      </div>
      <Standing budget={budget} />
      {canWrite ? <ChangeLimit budget={budget} /> : null}
    </li>
  );
}
