/** Routes for probes and Prometheus: health, readiness and metrics. */
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import { ok, publicRoute, route } from "../route.ts";
import type { Metrics } from "./metrics.ts";

export type ServerCondition = {
  readonly version: string;
  /** Queries the store; throws if it does not answer. */
  readonly ready: () => Promise<void>;
};

const health = z.object({
  status: z.literal("healthy"),
  service: z.literal("Holdpoint"),
  version: z.string(),
});

const silent = (cause: unknown): HoldpointError =>
  new HoldpointError("store_unavailable", "The store does not answer.", { cause });

export function healthRoutes({ version, ready }: ServerCondition) {
  return [
    publicRoute({
      method: "GET",
      path: "/api/health",
      summary: "Whether the server is there",
      tag: "server",
      scope: "public",
      answers: { 200: health },
      handle: async () => ok({ status: "healthy", service: "Holdpoint", version }),
    }),
    publicRoute({
      method: "GET",
      path: "/api/ready",
      summary: "Whether the server can work: its store answers",
      tag: "server",
      scope: "public",
      answers: { 200: z.object({ status: z.literal("ready") }) },
      async handle() {
        try {
          await ready();
        } catch (error) {
          throw silent(error);
        }
        return ok({ status: "ready" });
      },
    }),
  ];
}

export function metricsRoutes(metrics: Metrics) {
  return [
    route({
      method: "GET",
      path: "/metrics",
      summary: "What the server counts, for Prometheus",
      description:
        "Of the tenant whose credential it is, and of the process; without authentication, over all tenants. Without a name of anybody in it.",
      tag: "server",
      scope: "journal:read",
      answers: { 200: "text/plain" },
      async handle({ who }) {
        const whose = who.principal === null ? "all" : { tenant: who.tenant };
        return { status: 200, text: await metrics.text(whose), type: metrics.type };
      },
    }),
  ];
}
