/** For Prometheus. */
import type { Metrics } from "../metrics/metrics.ts";
import { route } from "../route.ts";

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
