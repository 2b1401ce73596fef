/** HTTP routes of alerts: list, read and acknowledge. */
import { z } from "zod";
import { actingPerson } from "../api/authenticate.ts";
import { ok, type RouteRequest, route } from "../api/route.ts";
import {
  bySchema,
  idParams,
  json,
  nextCursor,
  pageOf,
  pageQuery,
  sealCursor,
  time,
  timeOrNull,
  timeSchema,
} from "../api/wire.ts";

import { type Alert, type AlertSummary, alertMethods } from "./methods.ts";

const STATUSES = ["standing", "cleared"] as const;
const alertSchema = z.object({
  alert_id: z.string(),
  status: z.enum(STATUSES),
  monitor: z.string(),
  rule: z.string(),
  kind: z.string(),
  severity: z.enum(["info", "warning", "critical"]),
  subject: z.string(),
  workflow_id: z.string().nullable(),
  approval_id: z.string().nullable(),
  figures: json,
  says: z.string(),
  raised_at: timeSchema,
  cleared_at: timeSchema.nullable(),
  acknowledged_by: z.string().nullable(),
});

const LIST = "alerts";
const verbs = ({ runtime }: Pick<RouteRequest, "runtime">) => alertMethods(async () => runtime);

type AlertFields = Pick<Alert, "status" | "monitor" | "rule" | "kind" | "severity" | "subject" | "workflow"> &
  Pick<Alert, "approval" | "figures" | "says" | "raisedAt" | "clearedAt" | "id">;

function alertOnWire(alert: AlertFields, acknowledgedBy: string | null) {
  const { status, monitor, rule, kind, severity, subject, figures, says } = alert;
  return {
    alert_id: alert.id,
    ...{ status, monitor, rule, kind, severity, subject },
    workflow_id: alert.workflow,
    approval_id: alert.approval,
    ...{ figures, says },
    raised_at: time(alert.raisedAt),
    cleared_at: timeOrNull(alert.clearedAt),
    acknowledged_by: acknowledgedBy,
  };
}

const inFull = (alert: Alert) => alertOnWire(alert, alert.acknowledged?.by ?? null);
function inList(row: AlertSummary) {
  const by = row["acknowledgedBy"];
  return alertOnWire(row as unknown as AlertFields, typeof by === "string" ? by : null);
}

export const alertRoutes = [
  route({
    method: "GET",
    path: "/api/alerts",
    summary: "Alerts, newest first; those that stand unless another status is asked for",
    tag: "alerts",
    scope: "alerts:read",
    query: z.strictObject({
      status: z.enum([...STATUSES, "any"]).default("standing"),
      order: z.enum(["oldest", "newest"]).default("newest"),
      ...pageQuery,
    }),
    answers: { 200: z.object({ alerts: z.array(alertSchema), next_cursor: nextCursor }) },
    async handle(asked) {
      const { status, order } = asked.query;
      const { items, next } = await verbs(asked).list({ status, order, ...pageOf(LIST, asked.query) });
      return ok({ alerts: items.map(inList), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/alerts/{id}",
    summary: "An alert",
    tag: "alerts",
    scope: "alerts:read",
    params: idParams,
    answers: { 200: alertSchema },
    handle: async (asked) => ok(inFull(await verbs(asked).get(asked.params.id))),
  }),
  route({
    method: "POST",
    path: "/api/alerts/{id}/acknowledge",
    summary: "A person has seen it; it stands until what it is about is over",
    tag: "alerts",
    scope: "alerts:acknowledge",
    params: idParams,
    body: z.strictObject({ note: z.string().max(10_000).optional(), by: bySchema }),
    answers: { 200: alertSchema },
    whenLost: "repeat",
    async handle(asked) {
      const { note } = asked.body;
      const word = { by: actingPerson(asked.who, asked.body.by), ...(note === undefined ? {} : { note }) };
      return ok(inFull(await verbs(asked).acknowledge(asked.params.id, word)));
    },
  }),
];
