/** What a run has shown, in words and as a verdict. */
import { nameOf, placesFor } from "./places.ts";
import type { Doubt } from "./reconcile.ts";

export type RunOptions = {
  readonly store: "sqlite" | "postgres";
  readonly kills: number;
  readonly serverCrashes: number;
  readonly workers: number;
  readonly seed: string;
};

export type Summary = {
  readonly options: RunOptions;
  readonly kills: number;
  readonly serverCrashes: number;
  readonly takenForDead: number;
  /** Deaths by the name of their place. */
  readonly hits: ReadonlyMap<string, number>;
  /** Places where somebody was told to die and nobody did. */
  readonly missed: readonly string[];
  readonly answers: number;
  readonly requests: number;
  /** Requests whose key the receiver knew. */
  readonly repeated: number;
  readonly applications: number;
  readonly entries: number;
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  readonly unexplained: readonly string[];
  readonly doubts: readonly Doubt[];
  readonly wrong: readonly string[];
  readonly seconds: number;
};

/** Places that nobody died at, in a run that is long enough to have tried them all. */
export function placesNotHit({ options, hits }: Pick<Summary, "options" | "hits">): readonly string[] {
  const names = placesFor(options.store).map(nameOf);
  return Math.ceil(options.kills / 2) < names.length ? [] : names.filter((name) => !hits.has(name));
}

/** Everything that makes a run fail. */
export function faultsOf(summary: Summary): readonly string[] {
  const { lost, duplicated, unexplained, wrong, missed } = summary;
  return [
    ...lost.map((text) => `lost: ${text}`),
    ...duplicated.map((text) => `duplicated: ${text}`),
    ...unexplained.map((text) => `unexplained: ${text}`),
    ...wrong,
    ...new Set([...missed, ...placesNotHit(summary)].map((name) => `nobody died at ${name}`)),
  ];
}

function hitTable({ options, hits }: Summary): readonly string[] {
  const rows = placesFor(options.store).map((place) => {
    const name = nameOf(place);
    return `  ${name.padEnd(40)} ${hits.get(name) ?? 0}`;
  });
  return [`died at a named place${" ".repeat(21)} times`, ...rows];
}

function doubtLines({ doubts }: Summary): readonly string[] {
  const byTool = Map.groupBy(doubts, ({ tool }) => tool);
  const lines = [...byTool].toSorted().map(([tool, list]) => {
    const applied = list.filter((doubt) => doubt.applied).length;
    return `  ${tool.padEnd(24)} ${list.length} in doubt: ${applied} had happened, ${list.length - applied} had not`;
  });
  const happened = doubts.filter(({ applied }) => applied).length;
  return [
    `in doubt: ${doubts.length}; by the receiver's log ${happened} had happened and ${doubts.length - happened} had not; all ended by that word`,
    ...lines,
  ];
}

/** Every doubt by name, with what the receiver's log says of it. */
export function listed({ doubts }: Summary): string {
  return doubts
    .map(({ effect, tool, applied }) => `${effect} ${tool} ${applied ? "had happened" : "had not happened"}`)
    .join("\n");
}

export function printed(summary: Summary): string {
  const { kills, serverCrashes, options, lost, duplicated, unexplained } = summary;
  const faults = faultsOf(summary);
  const crashes = options.store === "postgres" ? ` and ${serverCrashes} server crashes` : "";
  const times = kills + serverCrashes;
  return [
    ...hitTable(summary),
    "",
    `${options.store}, seed ${options.seed}: ${kills} kills${crashes} in ${Math.round(summary.seconds)} s; ${summary.answers} answers, ${summary.requests} requests, ${summary.repeated} of them repeats that the receiver knew, ${summary.applications} applications, ${summary.entries} entries`,
    ...(summary.takenForDead > 0
      ? [`${summary.takenForDead} processes lost their lease meanwhile and were started again`]
      : []),
    ...doubtLines(summary),
    ...faults.slice(0, 50).map((fault) => `FAULT ${fault}`),
    `${lost.length} lost, ${duplicated.length} duplicated, ${unexplained.length} unexplained, ${faults.length} faults in all`,
    ...(faults.length === 0
      ? [
          `0 failures in ${times} crashes bounds the rate below ${(300 / Math.max(times, 1)).toFixed(2)} % (3/${times}) at 95 %`,
        ]
      : []),
  ].join("\n");
}
