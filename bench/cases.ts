/** Everything that is measured. */

export const BENCHES = [
  "raw-commit",
  "raw-same-rows",
  "guarded-call",
  "durable-step",
  "decision-to-effect",
  "verdicts",
  "http-propose",
] as const;
export type Bench = (typeof BENCHES)[number];

export type Case = {
  readonly bench: Bench;
  readonly system: "holdpoint" | "raw" | "openworkflow" | "dbos" | "restate" | "cedar";
  readonly store: "sqlite" | "postgres" | "own";
  readonly inFlight: number;
  /** The same measurement under another condition. */
  readonly variant: string | null;
};

export const PEERS: ReadonlySet<string> = new Set(["openworkflow", "dbos", "restate", "cedar"]);

const STORES = ["sqlite", "postgres"] as const;
const MOST = 64;

function each(
  given: Pick<Case, "bench" | "system" | "store">,
  flights: readonly number[],
  variant: string | null = null,
): Case[] {
  return flights.map((inFlight) => ({ ...given, inFlight, variant }));
}

function rawCases(): Case[] {
  const commit = { bench: "raw-commit", system: "raw" } as const;
  const rows = { bench: "raw-same-rows", system: "raw" } as const;
  return [
    // One connection that does not return before the sync: there is no more than one in flight.
    ...each({ ...commit, store: "sqlite" }, [1]),
    ...each({ ...commit, store: "postgres" }, [MOST, 1]),
    ...each({ ...rows, store: "sqlite" }, [1]),
    ...each({ ...rows, store: "sqlite" }, [MOST], "batched"),
    ...each({ ...rows, store: "postgres" }, [MOST, 1]),
    ...each({ ...rows, store: "postgres" }, [MOST], "batched"),
  ];
}

function holdpointCases(): Case[] {
  const call = { bench: "guarded-call", system: "holdpoint" } as const;
  const decision = { bench: "decision-to-effect", system: "holdpoint" } as const;
  return [
    ...STORES.flatMap((store) => [
      ...each({ ...call, store }, [MOST, 1]),
      ...each({ ...call, store }, [MOST], "shared-budget"),
    ]),
    ...STORES.flatMap((store) => each({ bench: "durable-step", system: "holdpoint", store }, [MOST, 1])),
    ...STORES.flatMap((store) => [
      ...each({ ...decision, store }, [1], "one-process"),
      ...each({ ...decision, store }, [1], "two-processes"),
    ]),
  ];
}

function peerCases(): Case[] {
  const bench = "durable-step" as const;
  const flights = [MOST, 1];
  return [
    ...STORES.flatMap((store) => each({ bench, system: "openworkflow", store }, flights)),
    ...each({ bench, system: "dbos", store: "postgres" }, flights),
    ...each({ bench, system: "restate", store: "own" }, flights),
    ...each({ bench, system: "restate", store: "own" }, flights, "2-partitions"),
  ];
}

function verdictCases(): Case[] {
  const ours = { bench: "verdicts", system: "holdpoint", store: "own" } as const;
  return [
    ...each(ours, [1]),
    ...each(ours, [1], "whole-review"),
    ...each({ bench: "verdicts", system: "cedar", store: "own" }, [1]),
  ];
}

/** As many connections as in flight. */
function httpCases(): Case[] {
  const bench = "http-propose" as const;
  return STORES.flatMap((store) => [
    ...each({ bench, system: "raw", store }, [MOST]),
    ...each({ bench, system: "holdpoint", store }, [MOST]),
  ]);
}

const CASES: readonly Case[] = [
  ...rawCases(),
  ...holdpointCases(),
  ...peerCases(),
  ...verdictCases(),
  ...httpCases(),
];

export function casesOf(only: Bench | null): readonly Case[] {
  return only === null ? CASES : CASES.filter(({ bench }) => bench === only);
}

export const nameOf = ({ bench, system, store, inFlight, variant }: Case): string =>
  `${bench} ${system}/${store} ${inFlight} in flight${variant === null ? "" : `, ${variant}`}`;

/** One process for each: what a system leaves in memory weighs on itself alone. */
export function driverOf({ bench, system, store, variant }: Case): string {
  const ownSetUp = system === "restate" || bench === "decision-to-effect";
  return [system, store, bench, ...(ownSetUp && variant !== null ? [variant] : [])].join(" ");
}
