/** The figures that this project holds itself to, as ratios within one run. */
import { type Case, PEERS } from "./cases.ts";
import type { Measurement } from "./measurement.ts";

export type Target = {
  readonly claim: string;
  readonly value: number;
  readonly unit: "times" | "ms";
  /** Null: shown without being judged. */
  readonly goal: { readonly least: number; readonly aim?: number } | { readonly under: number } | null;
};

type Figures = readonly Measurement[];
const MOST = 64;

function find(figures: Figures, wanted: Partial<Case>): Measurement | undefined {
  const full: Partial<Case> = { variant: null, ...wanted };
  return figures.find((one) =>
    Object.entries(full).every(([key, value]) => one[key as keyof Case] === value),
  );
}

const callsOn = (figures: Figures, store: Case["store"], inFlight: number, variant: string | null = null) =>
  find(figures, { bench: "guarded-call", store, inFlight, variant })?.perSecond;

/** The best peer as it comes, on one store or on any. */
function bestPeer(figures: Figures, store?: Case["store"]): number | undefined {
  const rates = figures
    .filter(({ system, inFlight, variant }) => PEERS.has(system) && inFlight === MOST && variant === null)
    .filter((one) => store === undefined || one.store === store)
    .map(({ perSecond }) => perSecond);
  return rates.length === 0 ? undefined : Math.max(...rates);
}

function ratio(
  claim: string,
  [ours, theirs]: readonly [number | undefined, number | undefined],
  goal: Target["goal"],
): Target[] {
  return ours === undefined || theirs === undefined
    ? []
    : [{ claim, value: ours / theirs, unit: "times", goal }];
}

function againstPeers(figures: Figures): Target[] {
  const sqlite = callsOn(figures, "sqlite", MOST);
  const postgres = callsOn(figures, "postgres", MOST);
  const budget = callsOn(figures, "postgres", MOST, "shared-budget");
  const fewer = find(figures, { system: "restate", inFlight: MOST, variant: "2-partitions" })?.perSecond;
  const onPostgres = bestPeer(figures, "postgres");
  return [
    ...ratio("SQLite, 64 in flight: of the best peer on SQLite", [sqlite, bestPeer(figures, "sqlite")], {
      least: 5,
    }),
    ...ratio("SQLite, 64 in flight: of the best of all peers", [sqlite, bestPeer(figures)], {
      least: 2,
      aim: 4,
    }),
    ...ratio("SQLite, 64 in flight: of Restate with 2 partitions", [sqlite, fewer], null),
    ...ratio("PostgreSQL, 64 in flight: of the best peer on PostgreSQL", [postgres, onPostgres], {
      least: 1.5,
    }),
    ...ratio("PostgreSQL, one budget for all: of the best peer on PostgreSQL", [budget, onPostgres], null),
  ];
}

/** The same work as the others do: one step, recorded once. */
function stepsAgainstPeers(figures: Figures): Target[] {
  const steps = (store: Case["store"]) =>
    find(figures, { bench: "durable-step", system: "holdpoint", store, inFlight: MOST })?.perSecond;
  const sqlite = steps("sqlite");
  const postgres = [steps("postgres"), bestPeer(figures, "postgres")] as const;
  return [
    ...ratio("Steps on SQLite, 64 in flight: of the best of all peers", [sqlite, bestPeer(figures)], {
      least: 4,
    }),
    ...ratio(
      "Steps on SQLite, 64 in flight: of the best peer on SQLite",
      [sqlite, bestPeer(figures, "sqlite")],
      null,
    ),
    ...ratio("Steps on PostgreSQL, 64 in flight: of the best peer on PostgreSQL", postgres, { least: 2 }),
  ];
}

function againstRaw(figures: Figures): Target[] {
  return (["sqlite", "postgres"] as const).flatMap((store) => {
    const raw = find(figures, { bench: "raw-commit", store, inFlight: 1 })?.perSecond;
    const half = raw === undefined ? undefined : raw / 2;
    const goal = { least: 0.6, aim: 0.8 };
    return ratio(`${store}, 1 in flight: of half the raw commits`, [callsOn(figures, store, 1), half], goal);
  });
}

function decisions(figures: Figures): Target[] {
  return figures
    .filter(({ bench }) => bench === "decision-to-effect")
    .map(({ store, variant, p50 }) => ({
      claim: `${store}, ${variant}: from decision to effect, median`,
      value: p50,
      unit: "ms",
      goal: { under: variant === "one-process" ? 5 : 50 },
    }));
}

const WANTED_VERDICTS = 20_000;

function verdicts(figures: Figures): Target[] {
  const of = (system: Case["system"], variant: string | null = null) =>
    find(figures, { bench: "verdicts", system, variant })?.perSecond;
  const goal = { least: 1 };
  return [
    ...ratio("50 rules, 2 KB: of 20,000 verdicts a second", [of("holdpoint"), WANTED_VERDICTS], goal),
    ...ratio(
      "50 rules, 2 KB: whole reviews, of that",
      [of("holdpoint", "whole-review"), WANTED_VERDICTS],
      null,
    ),
    ...ratio("50 rules, 2 KB: of Cedar's", [of("holdpoint"), of("cedar")], null),
  ];
}

/** Beside a route that only validates and commits a row. */
function overHttp(figures: Figures): Target[] {
  return (["sqlite", "postgres"] as const).flatMap((store) => {
    const of = (system: Case["system"]) => find(figures, { bench: "http-propose", system, store });
    const [ours, bare] = [of("holdpoint"), of("raw")];
    if (ours === undefined || bare === undefined) return [];
    const claim = `${store}, proposals over HTTP`;
    const goal = { least: store === "sqlite" ? 0.4 : 0.3 };
    return [
      ...ratio(`${claim}: of a bare route that commits a row`, [ours.perSecond, bare.perSecond], goal),
      { claim: `${claim}: p99`, value: ours.p99, unit: "ms", goal: null },
    ];
  });
}

export function targetsOf(figures: Figures): Target[] {
  return [
    ...againstPeers(figures),
    ...stepsAgainstPeers(figures),
    ...againstRaw(figures),
    ...decisions(figures),
    ...verdicts(figures),
    ...overHttp(figures),
  ];
}

export function judge({ value, goal }: Target): "met" | "met, aim missed" | "missed" | "" {
  if (goal === null) return "";
  if ("under" in goal) return value < goal.under ? "met" : "missed";
  if (value < goal.least) return "missed";
  return goal.aim !== undefined && value < goal.aim ? "met, aim missed" : "met";
}
