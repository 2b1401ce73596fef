/** What can be counted, for Prometheus: of requests as they are answered, of the journal by following it. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Answered } from "../app.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MINUTE = 60;
const HOUR = 3_600;
/** People take from seconds to weeks. */
const WAITS = [1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 24 * HOUR, 72 * HOUR, 168 * HOUR];

/** Asked at every scrape. */
export type Standing = {
  /** Over all tenants that are open. */
  readonly inDoubt: () => Promise<number>;
  readonly pending: () => Promise<number>;
  readonly listeners: () => number;
};

export type Metrics = {
  answered(facts: Answered): void;
  checkpoint(outcome: string): void;
  decided(outcome: string, seconds: number): void;
  action(outcome: string): void;
  text(): Promise<string>;
  readonly type: string;
};

function gauges(registry: Registry, { inDoubt, pending, listeners }: Standing): void {
  const asked = (name: string, help: string, value: () => number | Promise<number>) =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          this.set(await value());
        },
      }),
    );
  asked("holdpoint_effects_in_doubt", "Effects of which nobody knows whether they happened", inDoubt);
  asked("holdpoint_approvals_pending", "Approvals that wait for people", pending);
  asked("holdpoint_event_listeners", "Open streams of events", listeners);
}

export function createMetrics(standing: Standing): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: "holdpoint_http_request_duration_seconds",
    help: "How long requests took, by route and status",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers,
  });
  const checkpoints = new Counter({
    name: "holdpoint_checkpoints_total",
    help: "Checkpoints of workflows, by what came of them",
    labelNames: ["outcome"],
    registers,
  });
  const latency = new Histogram({
    name: "holdpoint_approval_latency_seconds",
    help: "From the question to its end, by how it ended",
    labelNames: ["outcome"],
    buckets: WAITS,
    registers,
  });
  const actions = new Counter({
    name: "holdpoint_actions_total",
    help: "Actions that ended, by how",
    labelNames: ["outcome"],
    registers,
  });
  gauges(registry, standing);
  return {
    answered: ({ method, route, status, ms }) =>
      requests.observe({ method, route, status: String(status) }, ms / 1_000),
    checkpoint: (outcome) => checkpoints.inc({ outcome }),
    decided: (outcome, seconds) => latency.observe({ outcome }, seconds),
    action: (outcome) => actions.inc({ outcome }),
    text: () => registry.metrics(),
    type: registry.contentType,
  };
}
