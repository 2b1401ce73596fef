/** What a run has seen: how often the power went where, and that everything that may happen did happen. */
import type { Answer } from "../../src/index.ts";
import { MOMENTS } from "./cuts.ts";
import type { Tried } from "./trial.ts";
import type { Told } from "./workload.ts";

/** What one image showed. */
export type Sight = {
  readonly seed: number;
  readonly seen: readonly string[];
  /** Acknowledged commits that are missing. */
  readonly lost: number;
  readonly isWrong: boolean;
  readonly text: string;
};

export type Summary = {
  readonly images: number;
  readonly seeds: ReadonlySet<number>;
  readonly counts: ReadonlyMap<string, number>;
  /** The images in which something is wrong, in words. */
  readonly wrong: readonly string[];
};

const ARTIFACT_BYTES = 64 * 1024;
const MOST_SHOWN = 5;

const isArtifact = (told: Told): boolean =>
  told.kind === "answer" && told.call.tool === "big" && told.call.args.size > ARTIFACT_BYTES;
const isVote = (approved: boolean) => (told: Told) => told.kind === "vote" && told.approved === approved;
const isAnswer =
  (...statuses: readonly Answer<unknown>["status"][]) =>
  (told: Told) =>
    told.kind === "answer" && statuses.includes(told.answer.status);

/** Each has to be seen: a run in which one never happened shows less than it says. */
const SOMETIMES: Readonly<Record<string, (tried: Tried) => boolean>> = {
  "unsynced writes were dropped": ({ image }) => image.dropped > 0,
  "a write was torn": ({ image }) => image.torn > 0,
  "a file grew over garbage": ({ image }) => image.ways.includes("garbage"),
  "a name was lost or came back": ({ image }) => image.namesLost,
  "an old index lay beside": ({ oldIndex }) => oldIndex,
  "the commit under way was there": ({ isAhead }) => isAhead,
  "the commit under way was gone": ({ isAhead, moments }) => !isAhead && moments.includes("in a commit"),
  "it was the second cut": ({ life }) => life === 2,
  "calls shared a commit": ({ workload, cut }) =>
    workload.disk.log
      .slice(0, cut.at)
      .some((op) => op.kind === "mark" && op.mark === "commit_begins" && op.members > 1),
  "executed was told": ({ told }) => told.some(isAnswer("done")),
  "not executed was told": ({ told }) => told.some(isAnswer("pending", "failed", "refused")),
  "in doubt was told": ({ told }) => told.some(isAnswer("in_doubt")),
  "an artifact was told": ({ told }) => told.some(isArtifact),
  "a transactional effect was told": ({ told }) =>
    told.some((one) => one.kind === "answer" && one.call.tool === "ledger"),
  "an approval was told": ({ told }) => told.some(isVote(true)),
  "a rejection was told": ({ told }) => told.some(isVote(false)),
  "a limit was told": ({ told }) => told.some(({ kind }) => kind === "limit"),
  "a secret was told": ({ told }) => told.some(({ kind }) => kind === "secret"),
  "a seal was told": ({ told }) => told.some(({ kind }) => kind === "seal"),
};

export function sightOf(tried: Tried, kept?: string): Sight {
  const sometimes = Object.entries(SOMETIMES).filter(([, isSeen]) => isSeen(tried));
  return {
    seed: tried.seed,
    seen: [...tried.moments, ...sometimes.map(([what]) => what)],
    lost: tried.lost,
    isWrong: tried.wrong.length > 0,
    text: describe(tried, kept),
  };
}

export function describe({ seed, number, cut, workload, moments, wrong }: Tried, kept?: string): string {
  const place = `cut at ${cut.at} of ${workload.disk.log.length} (${moments.join(", ") || "while opening"})`;
  const shown = wrong.slice(0, MOST_SHOWN);
  return [
    `seed ${seed}, image ${number}: ${place}`,
    ...shown.map((what) => `    ${what}`),
    ...(wrong.length > shown.length ? [`    and ${wrong.length - shown.length} more`] : []),
    ...(wrong.length > 0 ? [`    again: npm run powerloss -- --seed ${seed} --image ${number}`] : []),
    ...(kept === undefined ? [] : [`    kept: ${kept}`]),
  ].join("\n");
}

export type Counting = Summary & { add(sight: Sight): void };

export function startCounting(): Counting {
  const counts = new Map<string, number>([...MOMENTS, ...Object.keys(SOMETIMES)].map((what) => [what, 0]));
  const seeds = new Set<number>();
  const wrong: string[] = [];
  let images = 0;
  return {
    get images() {
      return images;
    },
    seeds,
    counts,
    wrong,
    add({ seed, seen, isWrong, text }) {
      images++;
      seeds.add(seed);
      for (const what of seen) counts.set(what, (counts.get(what) ?? 0) + 1);
      if (isWrong) wrong.push(text);
    },
  };
}

export const neverSeen = ({ counts }: Summary): readonly string[] =>
  [...counts].filter(([, times]) => times === 0).map(([what]) => what);

export function linesOf({ images, seeds, counts, wrong }: Summary): readonly string[] {
  const width = Math.max(...[...counts.keys()].map((what) => what.length));
  const bound = ((3 / images) * 100).toFixed(2);
  return [
    ...[...counts].map(([what, times]) => `  ${what.padEnd(width)}  ${String(times).padStart(5)}`),
    `${images} images of ${seeds.size} workloads, ${wrong.length} wrong`,
    ...(wrong.length === 0 ? [`with 95 % confidence fewer than ${bound} % of such cuts go wrong (3/N)`] : []),
  ];
}
