/** What a run of workflows has shown, in words and as a verdict. */
import type { Plant } from "./definition.ts";
import { pointOf } from "./whereabouts.ts";

export type WorkflowRunOptions = {
  readonly store: "sqlite" | "postgres";
  readonly workflows: number;
  /** Deaths of executing processes, each of which begins its share of the workflows. */
  readonly lives: number;
  readonly seed: string;
  /** Only these places, for a control. */
  readonly only?: readonly string[];
  readonly plant?: Plant;
};

export type WorkflowSummary = {
  readonly options: WorkflowRunOptions;
  readonly completed: number;
  readonly kills: number;
  readonly deciderKills: number;
  readonly takenForDead: number;
  /** Over all kills, the workflows that the killed process was running. */
  readonly runsKilled: number;
  /** Workflows that were running in a killed process at least once. */
  readonly workflowsKilled: number;
  readonly places: readonly string[];
  readonly hits: ReadonlyMap<string, number>;
  readonly missed: readonly string[];
  readonly requests: number;
  readonly repeated: number;
  readonly applications: number;
  readonly decisions: number;
  readonly doubts: { readonly applied: number; readonly notApplied: number };
  readonly entries: number;
  readonly wrong: readonly string[];
  readonly seconds: number;
};

const pointsOf = (places: Iterable<string>): ReadonlySet<string> => new Set([...places].map(pointOf));

/** Points that nobody died at. */
export function pointsNotHit({ places, hits }: Pick<WorkflowSummary, "places" | "hits">): readonly string[] {
  const hit = pointsOf(hits.keys());
  return [...pointsOf(places)].filter((point) => !hit.has(point));
}

const hasTriedAll = ({ options, places }: WorkflowSummary): boolean =>
  options.lives >= 2 * places.length && options.only === undefined;

/** Everything that makes a run fail. */
export function faultsOfWorkflows(summary: WorkflowSummary): readonly string[] {
  const { wrong, options, completed, places, hits } = summary;
  const notHit =
    options.only === undefined ? pointsNotHit(summary).map((point) => `nobody died at ${point}`) : [];
  const left = hasTriedAll(summary) ? places.filter((place) => !hits.has(place)) : [];
  return [
    ...wrong,
    ...(completed === options.workflows ? [] : [`${completed} of ${options.workflows} workflows completed`]),
    ...notHit,
    ...left.map((place) => `nobody died at ${place}`),
  ];
}

function hitTable({ places, hits }: WorkflowSummary): readonly string[] {
  const byPoint = Map.groupBy(places, pointOf);
  return [...byPoint].map(([point, list]) => {
    const hit = list.filter((place) => hits.has(place));
    const times = list.reduce((sum, place) => sum + (hits.get(place) ?? 0), 0);
    return `  ${point.padEnd(20)} ${String(times).padStart(4)} deaths at ${hit.length} of ${list.length} operations`;
  });
}

export function printedWorkflows(summary: WorkflowSummary): string {
  const { options, places, hits, doubts, missed } = summary;
  const faults = faultsOfWorkflows(summary);
  const hit = places.filter((place) => hits.has(place)).length;
  return [
    "died at a named point",
    ...hitTable(summary),
    "",
    `${options.store}, seed ${options.seed}: ${summary.completed} workflows in ${Math.round(summary.seconds)} s; ${summary.kills} kills of executing processes and ${summary.deciderKills} of the people's`,
    `${summary.runsKilled} times a workflow was running in a process that was killed; ${summary.workflowsKilled} of ${options.workflows} workflows at least once`,
    `${hit} of ${places.length} places (crash point and operation) were hit, ${hits.size - hit} others beside; ${[...hits.values()].reduce((sum, times) => sum + times, 0)} deaths at named places`,
    ...(missed.length > 0 ? [`told to die and did not: ${missed.join("; ")}`] : []),
    ...(summary.takenForDead > 0
      ? [`${summary.takenForDead} processes lost their lease meanwhile and were started again`]
      : []),
    `${summary.requests} requests, ${summary.repeated} of them repeats that the receiver knew, ${summary.applications} applications; ${summary.decisions} decisions; ${doubts.applied + doubts.notApplied} doubts, of which ${doubts.applied} had happened; ${summary.entries} entries`,
    ...faults.slice(0, 50).map((fault) => `FAULT ${fault}`),
    `${faults.length} faults in ${summary.completed} workflows`,
  ].join("\n");
}
