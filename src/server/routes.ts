/** Every route there is. */
import type { Route } from "./route.ts";
import { actionRoutes } from "./routes/actions.ts";
import { alertRoutes } from "./routes/alerts.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { budgetRoutes } from "./routes/budgets.ts";
import { grantRoutes } from "./routes/grants.ts";
import { type Condition, healthRoutes } from "./routes/health.ts";
import { journalRoutes } from "./routes/journal.ts";
import { killSwitchRoutes } from "./routes/kill-switch.ts";
import { policyRoutes } from "./routes/policies.ts";
import { receiptRoutes } from "./routes/receipts.ts";
import { workflowRoutes } from "./routes/workflows.ts";

export type RouteParts = { readonly condition: Condition };

export function allRoutes({ condition }: RouteParts): readonly Route[] {
  return [
    ...workflowRoutes,
    ...actionRoutes,
    ...approvalRoutes,
    ...receiptRoutes,
    ...journalRoutes,
    ...killSwitchRoutes,
    ...grantRoutes,
    ...budgetRoutes,
    ...policyRoutes,
    ...alertRoutes,
    ...healthRoutes(condition),
  ];
}
