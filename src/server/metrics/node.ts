/** What a node counts of itself: these are its own, and add up over all nodes. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";
import type { Whose } from "./whose.ts";

/** What it has in hand now. */
export type InHand = {
  readonly workflows: number;
  readonly effects: number;
  /** In whose names it works: one of each tenant that is open here. */
  readonly epochs: readonly string[];
  /** Of the lease that lapses first; null where none is a lease. */
  readonly leaseLeftMs: number | null;
};

export type NodeStanding = {
  readonly kind: string;
  readonly version: string;
  readonly inHand: (whose: Whose) => Promise<InHand>;
};

const NANOSECONDS = 1e9;
const SECOND_MS = 1_000;
/** One for the process, however many servers a test has in it. */
const lag = monitorEventLoopDelay({ resolution: 10 });

function sinceLastAsked(): { readonly [statistic: string]: number } {
  const seen = { mean: lag.count === 0 ? 0 : lag.mean, p99: lag.percentile(99), max: lag.max };
  lag.reset();
  return seen;
}

export function addProcess(registry: Registry, { kind, version }: NodeStanding): void {
  const info = new Gauge({
    name: "holdpoint_node_info",
    help: "What this node is; always 1",
    labelNames: ["kind", "version"],
    registers: [registry],
  });
  info.set({ kind, version }, 1);
  lag.enable();
  registry.registerMetric(
    new Gauge({
      name: "holdpoint_node_event_loop_lag_seconds",
      help: "How late this node came to what was due, since it was last asked",
      labelNames: ["statistic"],
      registers: [],
      collect() {
        for (const [statistic, value] of Object.entries(sinceLastAsked()))
          this.set({ statistic }, value / NANOSECONDS);
      },
    }),
  );
}

export function addInHand(registry: Registry, { inHand }: NodeStanding, whose: Whose): void {
  const of = (name: string, help: string, read: (now: InHand) => number | null) =>
    registry.registerMetric(
      new Gauge({
        ...{ name, help, registers: [] },
        async collect() {
          const value = read(await inHand(whose));
          if (value === null) this.remove();
          else this.set(value);
        },
      }),
    );
  of("holdpoint_node_workflows_running", "Workflows that this node runs now", ({ workflows }) => workflows);
  of("holdpoint_node_effects_running", "Effects that this node performs now", ({ effects }) => effects);
  of(
    "holdpoint_node_lease_seconds",
    "How long this node's lease lasts unless it is renewed",
    ({ leaseLeftMs }) => (leaseLeftMs === null ? null : leaseLeftMs / SECOND_MS),
  );
  registry.registerMetric(
    new Gauge({
      name: "holdpoint_node_epoch_info",
      help: "The epoch in whose name this node works, another after each lease that it lost; always 1",
      labelNames: ["epoch"],
      registers: [],
      async collect() {
        this.reset();
        for (const epoch of (await inHand(whose)).epochs) this.set({ epoch }, 1);
      },
    }),
  );
}
