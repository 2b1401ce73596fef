/** What is known of a case after its windows. */
import type { Case } from "./cases.ts";
import type { Window } from "./recorder.ts";
import { median } from "./statistics.ts";

export type Measurement = Case & {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly driverCpu: number;
  readonly serverCpu: number;
  readonly windows: readonly number[];
};

/** The median of the windows, figure by figure. */
export function measurementOf(one: Case, windows: readonly Window[]): Measurement {
  const of = (figure: (window: Window) => number) => median(windows.map(figure));
  return {
    ...one,
    perSecond: of(({ perSecond }) => perSecond),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    driverCpu: of(({ driverCpu }) => driverCpu),
    serverCpu: of(({ serverCpu }) => serverCpu),
    windows: windows.map(({ perSecond }) => perSecond),
  };
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

export function jsonLine({ variant, ...one }: Measurement): string {
  return JSON.stringify({
    bench: one.bench,
    system: one.system,
    store: one.store,
    ...(variant === null ? {} : { variant }),
    in_flight: one.inFlight,
    per_second: rounded(one.perSecond, 1),
    p50_ms: rounded(one.p50, 3),
    p99_ms: rounded(one.p99, 3),
    cpu_us_per_call: rounded(one.driverCpu, 1),
    server_cpu_us_per_call: rounded(one.serverCpu, 1),
    windows: one.windows.map((perSecond) => rounded(perSecond, 1)),
  });
}
