/** For Prometheus. */
import type { Metrics } from "../metrics/metrics.ts";
import { route } from "../route.ts";

export function metricsRoutes(metrics: Metrics) {
  return [
    route({
      method: "GET",
      path: "/metrics",
      summary: "What the server counts, for Prometheus",
      description: "Over all tenants of this process, and without a name of anybody in it.",
      tag: "server",
      scope: "journal:read",
      answers: { 200: "text/plain" },
      handle: async () => ({ status: 200, text: await metrics.text(), type: metrics.type }),
    }),
  ];
}
