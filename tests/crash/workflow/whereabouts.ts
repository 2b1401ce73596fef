/** Which operation of which workflow a process is at when it reaches a crash point. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CrashPoint } from "../../../src/runtime/runtime.ts";

/** The engine's own points, and one inside the tools: a request that left without an answer. */
export type Point = CrashPoint | "request_written";

type Here = { n: number | null; what: string; undos: number };

/** Reached outside of every run: what is taken over, sealed and so on. */
const BESIDE = "beside";

/** How a run is taken, by what had been going on. */
const TAKEN: { readonly [before: string]: string } = { "": "resumed", started: "started" };

export const placeName = (point: string, what: string): string => `${point} · ${what}`;
export const pointOf = (place: string): string => place.slice(0, place.indexOf(" "));

export type Whereabouts = {
  /** The caller begins workflow `n`. */
  starting<Value>(n: number, work: () => Promise<Value>): Promise<Value>;
  /** The definition comes to an operation. */
  at(n: number, attempt: number, what: string): void;
  reach(point: Point): void;
};

/** `arrive` is told every place that is reached. */
export function createWhereabouts(arrive: (place: string, n: number | null) => void): Whereabouts {
  const runs = new AsyncLocalStorage<Here>();

  /** A run is taken: from here on it has a context of its own. */
  function enter(): void {
    const before = runs.getStore() ?? { n: null, what: "", undos: 0 };
    const what = TAKEN[before.what] ?? "again";
    // Whatever follows from a start later on is not the start any more.
    if (what === "started") before.what = "";
    runs.enterWith({ n: before.n, what, undos: 0 });
  }

  return {
    starting: (n, work) => runs.run({ n, what: "started", undos: 0 }, work),
    at(n, attempt, what) {
      const here = runs.getStore();
      if (here === undefined) throw new Error("a definition runs outside of every run");
      here.n = n;
      here.what = attempt === 1 ? what : `${what} again`;
    },
    reach(point) {
      if (point === "before_take") enter();
      const here = runs.getStore();
      if (point === "before_compensation" && here !== undefined) here.what = `undo ${++here.undos}`;
      arrive(placeName(point, here?.what ?? BESIDE), here?.n ?? null);
    },
  };
}
