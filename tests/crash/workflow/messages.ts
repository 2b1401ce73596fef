/** The few words between the supervisor and its processes: what to do on standard input, reports on standard output. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Setup } from "../setup.ts";
import type { Plant } from "./definition.ts";

/** Die at this place, the n-th time that this process gets there. */
export type Order = { readonly place: string; readonly nth: number };
export type Go = {
  readonly name: string;
  /** Workflows to begin, or to find again. */
  readonly starts: readonly number[];
  readonly order: Order | null;
  /** Reports every place that it reaches. */
  readonly records: boolean;
  readonly plant: Plant | null;
};
export type Report =
  | { readonly kind: "ready" | "running" }
  | { readonly kind: "place"; readonly place: string }
  | { readonly kind: "died"; readonly place: string; readonly n: number | null }
  | { readonly kind: "decided"; readonly approval: string; readonly status: string }
  | { readonly kind: "resolved"; readonly effect: string; readonly applied: boolean }
  | { readonly kind: "wrong"; readonly what: string };

/** Taken for dead: this process may do nothing more. */
export const TAKEN_FOR_DEAD = 3;

/** Synchronous, so that it is out before the process is gone. */
export const report = (said: Report): void => void writeSync(1, `${JSON.stringify(said)}\n`);

export const readSetup = (): Setup => JSON.parse(process.argv[2] ?? "{}") as Setup;

/** The first line says what to do. Without a supervisor there is nothing to do. */
export function listen(begin: (go: Go) => void): void {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => begin(JSON.parse(line) as Go));
  lines.on("close", () => process.exit(0));
  report({ kind: "ready" });
}

/** Dies where it is told; until then it may report where it comes by. */
export function createArrival() {
  let go: Pick<Go, "order" | "records"> = { order: null, records: false };
  let times = 0;
  const seen = new Set<string>();
  return {
    take(next: Go): void {
      go = next;
    },
    arrive(place: string, n: number | null): void {
      if (go.records && !seen.has(place)) {
        seen.add(place);
        report({ kind: "place", place });
      }
      if (go.order?.place !== place || ++times < go.order.nth) return;
      report({ kind: "died", place, n });
      process.kill(process.pid, "SIGKILL");
    },
  };
}
