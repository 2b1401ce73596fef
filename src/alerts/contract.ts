/** Verbs of alerts, with their routes and schemas. */
import { z } from "zod";
import { contract, findVerb, type Library, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import { actor, choice, id, listOrder, optionalText, timestamp } from "../kernel/values.ts";
import { SEVERITIES } from "./rules/monitor-rule.ts";

const STATUSES = ["standing", "cleared"] as const;

const terms = {
  id: id("alert"),
  status: z.enum(STATUSES),
  monitor: z.string(),
  rule: z.string(),
  kind: z.string(),
  severity: z.enum(SEVERITIES),
  subject: z.string(),
  workflow: id("workflow").nullable(),
  /** The approval of the checkpoint that it raised. */
  approval: id("approval").nullable(),
  figures: z.record(z.string(), z.union([z.number(), z.string()])),
  says: z.string(),
  raisedAt: timestamp,
  clearedAt: timestamp.nullable(),
};
const summary = z.object({ ...terms, acknowledgedBy: z.string().nullable() });
const alert = z.object({
  ...terms,
  position: z.number().describe("of the journal entry that caused it"),
  clearedBy: z.number().nullable().describe("position of the journal entry that cleared it"),
  acknowledged: z.object({ by: z.string(), note: z.string().nullable(), at: timestamp }).nullable(),
});

export const alerts = contract({
  name: "alerts",
  owner: "alert",
  door: "admin",
  verbs: {
    list: listVerb({
      http: "GET /api/alerts",
      summary: "Alerts, newest first; those that stand unless another status is asked for",
      filters: {
        status: choice("An alert's status", [...STATUSES, "any"]).default("standing"),
        order: listOrder,
      },
      item: summary,
    }),
    get: plainVerb({ http: "GET /api/alerts/{id}", summary: "An alert in full", output: alert }),
    find: findVerb({ http: "GET /api/alerts/find" }),
    /** The alert stays `standing` until its condition ends. */
    acknowledge: verb({
      http: "POST /api/alerts/{id}/acknowledge",
      scope: "alerts:acknowledge",
      summary: "Acknowledge an alert. It stays active until its condition ends",
      whenLost: "repeat",
      takes: "word",
      input: z.strictObject({ note: optionalText("A note").optional(), by: actor }),
      output: alert,
    }),
  },
});

export type Alert = z.output<typeof alert>;
export type AlertSummary = z.output<typeof summary>;
export type AlertPage = z.input<(typeof alerts)["verbs"]["list"]["input"]>;
export type AlertList = Awaited<ReturnType<Library<typeof alerts>["list"]>>;
