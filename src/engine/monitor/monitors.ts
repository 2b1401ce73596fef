/** The verbs about monitors that an embedding program holds in its hands. */
import type { Runtime } from "../../runtime/runtime.ts";
import { type Alerts, alertsOf } from "./alerts.ts";
import { type Monitor, type MonitorOptions, startMonitor } from "./monitor.ts";

export type Monitors = {
  /** Watches the journal by rules that raise alerts, or checkpoints, by themselves. Resolves when it watches. */
  monitor(options: MonitorOptions): Promise<Monitor>;
  readonly alerts: Alerts;
};

export function monitorsOf(open: () => Promise<Runtime>): Monitors {
  const names = new Set<string>();
  return { monitor: (options) => startMonitor(open, names, options), alerts: alertsOf(open) };
}
