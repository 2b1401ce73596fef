/** Every route there is. */

import { intentStreamRoutes, intentWaitRoutes } from "../agents/intents/delivery-routes.ts";
import { intentRoutes } from "../agents/intents/routes.ts";
import { remoteRoutes } from "../agents/remote-routes.ts";
import { seedRoutes } from "../agents/seed-routes.ts";
import { alertRoutes } from "../alerts/routes.ts";
import { approvalReads, type CardParts, cardPageRoutes } from "../approvals/routes.ts";
import { approvalVerbs } from "../approvals/verbs.ts";
import { budgetRoutes } from "../budgets/routes.ts";
import { actionRoutes, receiptRoutes } from "../effects/routes.ts";
import { grantVerbs } from "../grants/verbs.ts";
import { killSwitchRoutes } from "../kill-switch/routes.ts";
import { endpointRoutes, messageRoutes } from "../notify/routes.ts";
import { keyRoutes, peopleRoutes } from "../people/routes.ts";
import { ownSessionRoutes, type SessionParts, sessionRoutes } from "../people/sessions/routes.ts";
import { tenantRoutes } from "../people/tenants/routes.ts";
import { policyRoutes, policyTrialRoutes } from "../policy/routes.ts";
import { journalRoutes, nodeRoutes } from "../runtime/routes.ts";
import { definitionRoutes, workflowRoutes } from "../workflows/routes.ts";
import type { Audience } from "./events/audience.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Desk } from "./pages/desk.ts";
import type { Route } from "./route.ts";
import { activityRoutes } from "./routes/activity.ts";
import { deskRoutes } from "./routes/desk.ts";
import { eventRoutes } from "./routes/events.ts";
import { type Asker, exampleRoutes } from "./routes/example.ts";
import { type Condition, healthRoutes } from "./routes/health.ts";

import { libraryRoutes } from "./routes/library.ts";

import { metricsRoutes } from "./routes/metrics.ts";

import { referenceRoutes } from "./routes/reference.ts";

import { verbRoutes } from "./routes/verbs.ts";
import { waitRoutes } from "./routes/waits.ts";

export type RouteParts = {
  readonly condition: Condition;
  readonly audience: Audience;
  readonly hands: SessionParts;
  readonly metrics: Metrics;
  readonly cards: CardParts;
  /** Undefined where it was not built. */
  readonly pages: Desk | undefined;
  /** Undefined where the server was started without it. */
  readonly example: Asker | undefined;
};

/** Written without a type: what is known of each is what the client is typed by. */
function resources({ condition, audience, hands, metrics, cards, pages, example }: RouteParts) {
  return [
    ...seedRoutes,
    ...remoteRoutes,
    ...workflowRoutes,
    ...definitionRoutes,
    ...actionRoutes,
    ...verbRoutes(approvalVerbs),
    ...approvalReads,
    ...activityRoutes,
    ...cardPageRoutes(cards),
    ...intentRoutes,
    ...intentWaitRoutes(audience),
    ...receiptRoutes,
    ...journalRoutes,
    ...killSwitchRoutes,
    ...verbRoutes(grantVerbs),
    ...budgetRoutes,
    ...policyRoutes,
    ...policyTrialRoutes,
    ...alertRoutes,
    ...eventRoutes(audience),
    ...waitRoutes(audience),
    ...intentStreamRoutes(audience),
    ...endpointRoutes,
    ...messageRoutes,
    ...sessionRoutes(hands),
    ...ownSessionRoutes,
    ...peopleRoutes,
    ...keyRoutes,
    ...tenantRoutes,
    ...nodeRoutes,
    ...healthRoutes(condition),
    ...metricsRoutes(metrics),
    ...libraryRoutes,
    ...exampleRoutes(example),
    ...deskRoutes(pages),
  ];
}

export type ListedRoute = ReturnType<typeof resources>[number] | ReturnType<typeof referenceRoutes>[number];

export function allRoutes(parts: RouteParts): readonly ListedRoute[] {
  const all: readonly ListedRoute[] = [
    ...resources(parts),
    ...referenceRoutes(parts.condition.version, (): readonly Route[] => all),
  ];
  return all;
}
