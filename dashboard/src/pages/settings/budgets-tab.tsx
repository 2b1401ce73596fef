/** Every budget that was opened, and a way to open another. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { may, useSession } from "../../api/session.ts";
import { Asked } from "../../ui/asked.tsx";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { budgetsQuery } from "./budget-queries.ts";
import { BudgetRow } from "./budget-row.tsx";
import { LimitForm } from "./limit-form.tsx";

function OpenButton() {
  return (
    <DialogButton label="Open a budget" title="Open a budget">
      {({ onClose }) => <LimitForm of={null} onClose={onClose} />}
    </DialogButton>
  );
}

export function BudgetsTab() {
  const list = useInfiniteQuery(budgetsQuery);
  const canWrite = may(useSession(), "budgets:write");
  return (
    <Panel
      isFlush
      title="Budgets"
      aside={canWrite ? <OpenButton /> : "to set a limit takes budgets:write, which admins have"}
    >
      <Asked query={list}>
        {({ pages }) => {
          const budgets = pages.flatMap((page) => page.budgets);
          if (budgets.length === 0)
            return (
              <Empty icon="chart" title="No budget was opened yet">
                A budget is what tools may spend together. An effect reserves what it costs at most before it
                starts; where there is no room, it waits.
              </Empty>
            );
          return (
            <ul className="divide-y divide-line">
              {budgets.map((budget) => (
                <BudgetRow key={budget.name} budget={budget} />
              ))}
            </ul>
          );
        }}
      </Asked>
      <MoreRows list={list} />
    </Panel>
  );
}
