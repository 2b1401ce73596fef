/** The few words between the supervisor and its processes: orders on standard input, reports on standard output. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Doing, isHere, nameOf, type Place, type Point } from "./places.ts";
import type { Asked } from "./told.ts";

export type Order = { readonly die: { readonly place: Place; readonly nth: number } };
export type Go = {
  readonly go: {
    readonly name: string;
    readonly work: "load" | "settle";
    /** What the one before was asked and did not live to answer. */
    readonly again: readonly Asked[];
    readonly order: Order | null;
  };
};
export type Report =
  | { readonly kind: "ready" | "running" }
  | { readonly kind: "died"; readonly place: string; readonly requestId: string | null };

/** Synchronous, so that it is out before the process is gone. */
export const report = (said: Report): void => void writeSync(1, `${JSON.stringify(said)}\n`);

/** Dies where it is told, the n-th time that it gets there. */
export function createDeath(doing: () => (Doing & { readonly requestId: string }) | undefined) {
  let order: Order | null = null;
  let times = 0;
  return {
    take(next: Order | null): void {
      order = next;
      times = 0;
    },
    reach(point: Point): void {
      const now = doing();
      if (order === null || !isHere(order.die.place, point, now)) return;
      if (++times < order.die.nth) return;
      report({ kind: "died", place: nameOf(order.die.place), requestId: now?.requestId ?? null });
      process.kill(process.pid, "SIGKILL");
    },
  };
}

/** The first line says what to do; those after it are orders. Without a supervisor there is nothing to do. */
export function listen(begin: (go: Go["go"]) => void, take: (order: Order) => void): void {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    const said = JSON.parse(line) as Go | Order;
    if ("go" in said) begin(said.go);
    else take(said);
  });
  lines.on("close", () => process.exit(0));
  report({ kind: "ready" });
}
