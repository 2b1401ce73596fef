/** Made by `npm run generate`: every resource whose commands are data. */
import { keysResource, peopleResource, tenantsResource } from "./resources/access.ts";
import { budgetsResource, grantsResource, intentsResource, nodesResource } from "./resources/limits.ts";
import { alertsResource, endpointsResource, notificationsResource } from "./resources/notices.ts";

export const RESOURCES = [
  alertsResource,
  budgetsResource,
  endpointsResource,
  grantsResource,
  intentsResource,
  keysResource,
  nodesResource,
  notificationsResource,
  peopleResource,
  tenantsResource,
] as const;
