/** Every route there is. */
import type { Route } from "./route.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { type Condition, healthRoutes } from "./routes/health.ts";
import { killSwitchRoutes } from "./routes/kill-switch.ts";

export type RouteParts = { readonly condition: Condition };

export function allRoutes({ condition }: RouteParts): readonly Route[] {
  return [...approvalRoutes, ...killSwitchRoutes, ...healthRoutes(condition)];
}
