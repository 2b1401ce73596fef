/** Which page an address opens. Pages are loaded when they are gone to; only the way there is in the first load. */
import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { lazyPage } from "./shell/lazy-page.ts";
import { LISTED_PAGES } from "./shell/listed-pages.ts";
import { NotFound } from "./shell/not-found.tsx";
import { PageFailure } from "./shell/page-failure.tsx";
import { Shell } from "./shell/shell.tsx";
import { Loading } from "./ui/states.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const under = { getParentRoute: () => root };

/** What follows the ? of an address: text by name, nothing else. */
const asText = (search: Record<string, unknown>): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)]));

const routes = [
  createRoute({
    ...under,
    path: "/",
    component: lazyPage(() => import("./pages/today/today-page.tsx"), "TodayPage"),
  }),
  createRoute({
    ...under,
    path: "/approvals",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/approvals/inbox-page.tsx"), "InboxPage"),
  }),
  createRoute({
    ...under,
    path: "/approvals/$id",
    component: lazyPage(() => import("./pages/approvals/approval-page.tsx"), "ApprovalPage"),
  }),
  createRoute({
    ...under,
    path: "/workflows",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/workflows/workflows-page.tsx"), "WorkflowsPage"),
  }),
  createRoute({
    ...under,
    path: "/workflows/$id",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/workflows/workflow-page.tsx"), "WorkflowPage"),
  }),
  createRoute({
    ...under,
    path: "/actions/$id",
    component: lazyPage(() => import("./pages/actions/action-page.tsx"), "ActionPage"),
  }),
  createRoute({
    ...under,
    path: "/in-doubt",
    component: lazyPage(() => import("./pages/in-doubt/in-doubt-page.tsx"), "InDoubtPage"),
  }),
  createRoute({
    ...under,
    path: "/policies",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/policies/policies-page.tsx"), "PoliciesPage"),
  }),
  createRoute({
    ...under,
    path: "/agents",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/agents/agents-page.tsx"), "AgentsPage"),
  }),
  createRoute({
    ...under,
    path: "/activity",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/activity/activity-page.tsx"), "ActivityPage"),
  }),
  createRoute({
    ...under,
    path: "/kill-switch",
    component: lazyPage(() => import("./pages/kill-switch/kill-switch-page.tsx"), "KillSwitchPage"),
  }),
  createRoute({
    ...under,
    path: "/settings",
    validateSearch: asText,
    component: lazyPage(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
  }),
  createRoute({
    ...under,
    path: "/more",
    component: lazyPage(() => import("./pages/more/more-page.tsx"), "MorePage"),
  }),
] as const;

const listed = LISTED_PAGES.map(({ to, page }) =>
  createRoute({ ...under, path: to, validateSearch: asText, component: page }),
);

export const router = createRouter({
  routeTree: root.addChildren([...routes, ...listed]),
  defaultPreload: "intent",
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
