/** What people read of a run. */
import { FAULTS } from "./history.ts";
import { isSound, type Storm } from "./storm.ts";

const MOST_SHOWN = 20;

function counted(storm: Storm): string {
  const kinds = Map.groupBy(storm.told, ({ kind }) => kind);
  return [...kinds].map(([kind, lines]) => `${lines.length} ${kind}s`).join(", ");
}

function outcomes({ told }: Storm): string {
  const said = Map.groupBy(
    told.flatMap((line) => (line.kind === "read" ? [] : [line.said])),
    (one) => one,
  );
  const of = (name: "yes" | "no" | "unknown") => said.get(name)?.length ?? 0;
  return `${of("yes")} acknowledged, ${of("no")} refused, ${of("unknown")} unknown to their clients`;
}

function ended({ journal }: Storm): string {
  const trips = [...journal.workflows.values()].filter(
    (one) => one.status !== "none" && one.isOutside !== true,
  );
  const histories = [...journal.histories.values()].flat();
  const undone = histories.filter(
    ({ type, body }) => type === "compensation.settled" && body["status"] === "undone",
  );
  const resumed = histories.filter(({ type }) => type === "workflow.resumed").length;
  const completed = trips.filter(({ status }) => status === "completed").length;
  return `${trips.length} workflows run by nodes (${completed} completed, ${resumed} times taken up), ${undone.length} compensations`;
}

/** One run, in a few lines. */
export function printed(storm: Storm): string {
  const { options, rate, struck, fell, entries, applications, doubts, settledMs, faults, wrong } = storm;
  const blows = [...struck].map(([kind, times]) => `${kind} ${times}`).join(", ");
  const happened = doubts.filter(({ applied }) => applied).length;
  const lines = [
    `seed ${options.seed}, ${options.seconds} s: ${rate.toFixed(0)} acknowledged a second`,
    `  told        ${counted(storm)}: ${outcomes(storm)}`,
    `  struck      ${blows || "not at all"}${fell.length === 0 ? "" : `; ${fell.join("; ")}`}`,
    `  journal     ${entries} entries, ${storm.journal.approvals.size} approvals, ${ended(storm)}`,
    `  effects     ${applications} applied; ${doubts.length} in doubt, of which ${happened} had happened`,
    `  at rest     after ${(settledMs / 1_000).toFixed(1)} s`,
    ...faultLines(faults.map(({ kind, what }) => `${kind}: ${what}`)),
    ...faultLines(wrong),
    ...(storm.folder === null ? [] : [`  kept        ${storm.folder}`]),
  ];
  return lines.join("\n");
}

function faultLines(all: readonly string[]): readonly string[] {
  const more = all.length > MOST_SHOWN ? [`  … and ${all.length - MOST_SHOWN} more`] : [];
  return [...all.slice(0, MOST_SHOWN).map((line) => `  WRONG       ${line}`), ...more];
}

/** All runs together, and how to run them again. */
export function summed(storms: readonly Storm[]): string {
  const rates = storms.map(({ rate }) => rate);
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const struck = new Map<string, number>();
  for (const storm of storms)
    for (const [kind, times] of storm.struck) struck.set(kind, (struck.get(kind) ?? 0) + times);
  const unsound = storms.filter((storm) => !isSound(storm));
  const [first] = storms;
  const again = `npm run fleet -- --seed ${first?.options.seed} --runs ${storms.length} --seconds ${first?.options.seconds}`;
  return [
    `${storms.length} histories checked for ${FAULTS.join(", ")}: ${unsound.length} with faults`,
    `${mean.toFixed(0)} acknowledged a second on average, ${Math.min(...rates).toFixed(0)} at least`,
    `struck: ${[...struck].map(([kind, times]) => `${kind} ${times}`).join(", ")}`,
    `again: ${again}`,
  ].join("\n");
}
