/** A budget by its name: how much of its limit is spent and reserved; and another limit. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { AnswerOf } from "holdpoint/client";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, may, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { moneyText, several } from "../../format/amounts.ts";
import { microsOf, shareOf, typedOf } from "../../format/money-input.ts";
import { Asked } from "../../ui/asked.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";

type Budget = AnswerOf<"GET /api/budgets/{name}">;

const budgetQuery = (name: string) =>
  queryOptions({
    queryKey: ["budgets", "one", name],
    queryFn: () => client.budgets.get(name),
    enabled: name !== "",
  });

function Standing({ budget }: { readonly budget: Budget }) {
  const { limit, spent_micros, reserved_micros, overrun_micros, reservations } = budget;
  const amount = (micros: string) => moneyText({ currency: limit.currency, micros });
  const share = (micros: string) => shareOf(micros, limit.micros);
  const held = Object.keys(reservations).length;
  return (
    <div className="flex flex-col gap-2">
      <Meter
        label={`Limit ${moneyText(limit)}`}
        text={`${amount(spent_micros)} spent, ${amount(reserved_micros)} reserved`}
        parts={[
          { name: "spent", share: share(spent_micros), tone: "go" },
          { name: "reserved", share: share(reserved_micros), tone: "hold" },
        ]}
      />
      <p className="text-small text-soft">
        {held === 0 ? "Nothing" : several(held, "effect")} under way {held < 2 ? "holds" : "hold"} a part of
        it.
        {overrun_micros === "0" ? "" : ` ${amount(overrun_micros)} more was spent than there was.`}
      </p>
    </div>
  );
}

type LimitProps = { readonly name: string; readonly first: Budget | null };

function SetLimit({ name, first }: LimitProps) {
  const session = useSession();
  const [typed, setTyped] = useState(first === null ? "" : typedOf(first.limit));
  const [currency, setCurrency] = useState(first?.limit.currency ?? "USD");
  const micros = microsOf(typed);
  const deed = useDeed({
    does: (limit: string) =>
      client.budgets.set(name, { limit: { currency: currency.trim(), micros: limit }, ...byOf(session) }),
    touches: "budgets",
    onDone: () => toast("The limit is set."),
  });
  if (!may(session, "budgets:write"))
    return <p className="text-small text-soft">To set a limit takes budgets:write, which admins have.</p>;
  return (
    <Form
      deed={deed}
      submit={first === null ? "Open the budget" : "Set the limit"}
      isReady={micros !== null && currency.trim() !== ""}
      onSubmit={() => {
        if (micros !== null) deed.run(micros);
      }}
    >
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem]">
        <TextField
          label="Limit"
          inputMode="decimal"
          value={typed}
          fault={typed !== "" && micros === null ? "An amount such as 500 or 12.50." : undefined}
          onChange={(event) => setTyped(event.target.value)}
        />
        <TextField label="Currency" value={currency} onChange={(event) => setCurrency(event.target.value)} />
      </div>
    </Form>
  );
}

function Found({ name }: { readonly name: string }) {
  const query = useQuery(budgetQuery(name));
  const isMissing = query.error !== null && "code" in query.error && query.error.code === "unknown_id";
  return (
    <Panel title={<Strange text={name} />}>
      {isMissing ? (
        <div className="flex flex-col gap-4">
          <p className="text-small text-soft">There is no budget of this name. It can be opened.</p>
          <SetLimit name={name} first={null} />
        </div>
      ) : (
        <Asked query={query} lines={2}>
          {(budget) => (
            <div className="flex flex-col gap-6">
              <Standing budget={budget} />
              <SetLimit name={name} first={budget} />
            </div>
          )}
        </Asked>
      )}
    </Panel>
  );
}

export function BudgetsTab() {
  const navigate = useNavigate();
  const name = useSearch({ from: "/settings" })["budget"] ?? "";
  const [typed, setTyped] = useState(name);
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Find a budget">
        <form
          className="flex flex-wrap items-start gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            void navigate({ to: "/settings", search: { tab: "budgets", budget: typed.trim() } });
          }}
        >
          <TextField
            label="Name"
            hint="Names come from programs: a tool gives one in the cost that it declares, a workflow when it is started. An action that a budget holds back says which on its page."
            value={typed}
            spellCheck={false}
            className="grow"
            onChange={(event) => setTyped(event.target.value)}
          />
          <Button type="submit" disabled={typed.trim() === ""} className="mt-6">
            Look
          </Button>
        </form>
      </Panel>
      {name === "" ? null : <Found key={name} name={name} />}
    </div>
  );
}
