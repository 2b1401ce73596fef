/** What a budget may come to: of one that is there, or of a new one. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { amountFault, microsOf, typedOf } from "../../format/money-input.ts";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toaster.tsx";
import type { Budget } from "./budget-queries.ts";

type Props = {
  /** null: a new one. */
  readonly of: Budget | null;
  readonly onClose: () => void;
};

export function LimitForm({ of, onClose }: Props) {
  const session = useSession();
  const [name, setName] = useState(of?.name ?? "");
  const [typed, setTyped] = useState(of === null ? "" : typedOf(of.limit));
  const [currency, setCurrency] = useState(of?.limit.currency ?? "USD");
  const micros = microsOf(typed);
  const deed = useDeed({
    does: (limit: string) =>
      client.budgets.limit(name.trim(), {
        limit: { currency: currency.trim(), micros: limit },
        ...byOf(session),
      }),
    touches: "budgets",
    onDone: () => {
      toast("The limit is set.");
      onClose();
    },
  });
  return (
    <Form
      deed={deed}
      submit={of === null ? "Open the budget" : "Set the limit"}
      isReady={micros !== null && name.trim() !== "" && currency.trim() !== ""}
      onSubmit={() => {
        if (micros !== null) deed.run(micros);
      }}
      onCancel={onClose}
    >
      {of === null ? (
        <TextField
          label="Name"
          hint="Programs give it: a tool in the cost that it declares, a workflow when it is started. A budget of this name that is there already gets this limit."
          value={name}
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
      ) : null}
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem]">
        <TextField
          label={of === null ? "Limit" : `Limit in ${currency}`}
          inputMode="decimal"
          value={typed}
          fault={typed === "" ? undefined : amountFault(typed)}
          onChange={(event) => setTyped(event.target.value)}
        />
        {of === null ? (
          <TextField
            label="Currency"
            value={currency}
            onChange={(event) => setCurrency(event.target.value)}
          />
        ) : null}
      </div>
    </Form>
  );
}
