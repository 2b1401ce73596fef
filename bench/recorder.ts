/**
 * Counts one window. It opens at the first call that ends after the run-up and closes at the first that ends after the
 * time: a system that never yields to timers is measured like the others, and no half call is counted.
 */
import { mean, percentile } from "./statistics.ts";
import type { Load } from "./system.ts";

/** Processor time so far, in microseconds. */
export type Cpu = { readonly driver: number; readonly servers: number };
export type Instruments = { now(): number; cpu(): Cpu };

export type Span = { readonly runUpMs: number; readonly windowMs: number };

export type Window = {
  readonly calls: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly driverCpu: number;
  readonly serverCpu: number;
};

export type Recorder = Pick<Load, "isOver" | "done" | "took"> & { window(): Window };

type Edge = { readonly at: number; readonly cpu: Cpu };

export function createRecorder({ runUpMs, windowMs }: Span, { now, cpu }: Instruments): Recorder {
  const start = now();
  const latencies: number[] = [];
  let opened: Edge | undefined;
  let closed: Edge | undefined;
  // Calls whose latency is only a part of their time say how many would fit into a second by that part.
  let partly = false;
  const ended = (at: number, latency: number) => {
    if (closed !== undefined || at < start + runUpMs) return;
    if (opened === undefined) {
      opened = { at, cpu: cpu() };
      return;
    }
    latencies.push(latency);
    if (at >= opened.at + windowMs) closed = { at, cpu: cpu() };
  };
  return {
    isOver: () => closed !== undefined,
    done: (began) => {
      const at = now();
      ended(at, at - began);
    },
    took: (milliseconds) => {
      partly = true;
      ended(now(), milliseconds);
    },
    window: () => {
      if (opened === undefined || closed === undefined) throw new Error("too few calls ended in this window");
      const calls = latencies.length;
      const seconds = partly ? (mean(latencies) * calls) / 1_000 : (closed.at - opened.at) / 1_000;
      return {
        calls,
        perSecond: calls / seconds,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        driverCpu: (closed.cpu.driver - opened.cpu.driver) / calls,
        serverCpu: (closed.cpu.servers - opened.cpu.servers) / calls,
      };
    },
  };
}
