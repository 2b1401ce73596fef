/** What it would cost, and what is left of each budget. */
import type { CardAnswer } from "../../api/approvals.ts";
import { moneyText } from "../../format/amounts.ts";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";

type Cost = CardAnswer["card"]["costs"][number];

function CostLine({ cost: { budget, amount, left } }: { readonly cost: Cost }) {
  return (
    <li className="flex flex-col">
      <span className="figures text-large font-semibold">{moneyText(amount)}</span>
      <span className="text-small text-soft">
        of the budget <Strange text={budget} className="font-semibold" />,{" "}
        {left === null ? "which is not there in this currency" : `which has ${moneyText(left)} left`}
      </span>
    </li>
  );
}

export function CostsPanel({ costs }: { readonly costs: readonly Cost[] }) {
  if (costs.length === 0) return null;
  return (
    <Panel title="What it costs" aside="as the tool expects">
      <ul className="flex flex-col gap-3">
        {costs.map((cost) => (
          <CostLine key={cost.budget} cost={cost} />
        ))}
      </ul>
    </Panel>
  );
}
