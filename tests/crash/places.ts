/** Where a process may be told to die, and in which state of a call. */
import type { CrashPoint } from "../../src/runtime/runtime.ts";

/** The engine's own points, and two inside the tools: a request that left without an answer, a row before its commit. */
export type Point = CrashPoint | "request_written" | "in_transaction";

export type Place = {
  readonly point: Point;
  readonly who: "worker" | "decider";
  /** What the process is about: a call of a tool whose name begins so, a kind of decision, or an effect taken over. */
  readonly about: string | "taken over" | null;
  /** A call looks twice before it waits, and comes to its start again after a decision. */
  readonly decided: boolean;
  /** Only a process that has just started gets there, and only if another died with work under way. */
  readonly fresh: boolean;
};

const place = (point: Point, about: string | null = null, more: Partial<Place> = {}): Place => ({
  point,
  about,
  who: "worker",
  decided: false,
  fresh: false,
  ...more,
});

const around = (name: "propose" | "start" | "send" | "outcome" | "seal" | "recover" | "notify" | "vote") =>
  [`before_${name}`, `after_${name}`] as const;

const sending: readonly Point[] = [...around("send"), "request_written", ...around("outcome")];

const PLACES: readonly Place[] = [
  ...around("propose").flatMap((point) => [place(point, "once.ignores"), place(point, "once.asked")]),
  ...around("start").flatMap((point) => [
    place(point, "once.asked"),
    place(point, "once.asked", { decided: true }),
  ]),
  ...["once.", "keyed.", "probed."].flatMap((about) => sending.map((point) => place(point, about))),
  ...around("send").map((point) => place(point, "idempotent.")),
  ...[...around("send"), ...around("outcome")].map((point) => place(point, "read.")),
  ...around("recover").map((point) => place(point, null, { fresh: true })),
  ...sending.map((point) => place(point, "taken over", { fresh: true })),
  ...around("seal").map((point) => place(point)),
  ...around("notify").flatMap((point) => [place(point, "once.asked"), place(point, "once.drops")]),
  ...around("vote").flatMap((point) =>
    ["approve", "reject", "edit"].map((about) => place(point, about, { who: "decider" })),
  ),
  place("in_transaction", "table."),
];

export const placesFor = (store: "sqlite" | "postgres"): readonly Place[] =>
  PLACES.filter(({ point }) => store === "sqlite" || point !== "in_transaction");

export function nameOf({ point, about, decided }: Place): string {
  return [point, about, decided ? "decided" : null].filter((part) => part !== null).join(" · ");
}

/** What a process is doing when it reaches a point; nothing for what it does beside its calls. */
export type Doing = { readonly about: string; readonly starts: number } | undefined;

export function isHere(wanted: Place, point: Point, doing: Doing): boolean {
  if (wanted.point !== point) return false;
  if (wanted.about === null) return true;
  if (wanted.about === "taken over") return doing === undefined;
  if (doing?.about.startsWith(wanted.about) !== true) return false;
  const isStart = point === "before_start" || point === "after_start";
  return !isStart || wanted.decided === doing.starts > 2;
}
