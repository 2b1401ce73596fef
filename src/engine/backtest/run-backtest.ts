/** A policy on trial against the journal: every recorded action whose verdict it would change. */
import { checkSought } from "../../core/backtest/amount.ts";
import {
  askedAs,
  type Heard,
  mayBeLeftAlone,
  type RecordedAction,
  type RecordedReview,
} from "../../core/backtest/heard.ts";
import type { Replay } from "../../core/backtest/replay.ts";
import type { BacktestReport } from "../../core/backtest/report.ts";
import {
  type Answer,
  countEdit,
  countHeard,
  countReview,
  isWanted,
  openTally,
  reportOf,
  type Tally,
} from "../../core/backtest/tally.ts";
import type { Asked } from "../../core/policy/tool-pattern.ts";
import { type Review, reviewAction } from "../../core/review.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";

import type { Store } from "../../stores/store.ts";
import { argsIn } from "./args-in.ts";
import { type Judge, type Panel, type Panels, panelsOf } from "./beside.ts";
import { type Candidate, type Validate, type Validators, validatorsOf } from "./candidate.ts";
import { type Playing, type Progress, playJournal } from "./play.ts";

type Place = { readonly store: Store; readonly tenant: string };

export type BacktestOptions = {
  /** Actions proposed at this time or later, in milliseconds since 1970. All of them unless set. */
  readonly since?: number;
  /** How many changes are listed; all are counted. 100 unless set. */
  readonly limit?: number;
  /** An argument that is summed up over what changes: its name, or a path such as `order.total`. */
  readonly amount?: string;
  readonly progress?: Progress;
};

const DEFAULT_LIMIT = 100;

type Reviewed = Extract<Heard, { kind: "reviewed" }>;

type Trial = {
  readonly place: Place;
  readonly candidate: Candidate;
  readonly validators: Validators;
  readonly panels: Panels;
  /** Who judges an action, from its review on. */
  readonly judging: WeakMap<RecordedAction, Panel>;
  readonly tally: Tally;
};

type Judged = {
  readonly review: Review;
  /** What the documents of then say; null where that is not asked, or cannot be. */
  readonly before: Review | null;
  readonly isWhole: boolean;
  readonly args: Json;
};

function judge(
  { judging, candidate, validators }: Trial,
  replay: Replay,
  action: RecordedAction,
  told: {
    readonly args: Json;
    readonly now: number;
    readonly needsBefore: (candidate: Review) => boolean;
    /** What was said of it then; null where it is judged as a person changed it. */
    readonly said: RecordedReview | null;
  },
): Judged | Promise<Judged> {
  const { input, isWhole } = replay.input(action, told);
  const panel = judging.get(action);
  const ask = (validate: Validate): Judged => {
    const earlier = panel?.before ?? null;
    const as = (asked: Asked) => (judge: Judge) =>
      reviewAction({ policy: (one) => judge(one, asked), validate }, input);
    const isLeft = told.said !== null && mayBeLeftAlone(action, told.said) && earlier !== null;
    const by = as(isLeft && as("call")(earlier).verdict !== "approve" ? "undo" : askedAs(action));
    const review = by(panel?.judge ?? candidate.judge);
    const before = earlier !== null && told.needsBefore(review) ? by(earlier) : null;
    return { review, before, isWhole: isWhole(), args: told.args };
  };
  const validate = validators(action.schema);
  return typeof validate === "function" ? ask(validate) : validate.then(ask);
}

const digestIn = ({ action }: Reviewed, review: Review): string =>
  review.revisions.length === 0 ? action.argsDigest : digestOf(review.args);

/** Most actions are as they were, and nobody is asked: what the documents said then is what was recorded. */
const needsBefore =
  (heard: Reviewed) =>
  (candidate: Review): boolean =>
    candidate.verdict === "escalate" ||
    candidate.verdict !== heard.review.verdict ||
    digestIn(heard, candidate) !== heard.review.argsDigest;

function compare(trial: Trial, heard: Reviewed, judged: Judged): void {
  const { review: candidate, isWhole, args } = judged;
  const digest = digestIn(heard, candidate);
  const countsCalls = trial.candidate.countsCalls(heard.action.tool);
  const limitsRun = trial.candidate.limits?.toolCalls !== undefined;
  const panel = trial.judging.get(heard.action);
  const before: Answer["before"] = panel?.hasDocuments === false ? "code" : judged.before;
  const beforeDigest = judged.before === null ? "" : digestIn(heard, judged.before);
  const said = {
    candidate,
    before,
    beforeDigest,
    digest,
    isWhole,
    isBesideWhole: panel?.isWhole !== false,
    args,
  };
  countReview(trial.tally, heard, { ...said, countsCalls, limitsRun });
}

async function reviewLater(
  trial: Trial,
  replay: Replay,
  heard: Reviewed | Extract<Heard, { kind: "edited" }>,
): Promise<void> {
  const kept = heard.kind === "edited" ? heard.args : heard.action.args;
  const args = await argsIn(trial.place, kept);
  if (args === undefined) {
    trial.tally.counts[heard.kind === "edited" ? "decisions" : "gone"] += 1;
    return;
  }
  const judged = await judge(trial, replay, heard.action, {
    args,
    now: heard.now,
    needsBefore: heard.kind === "edited" ? () => false : needsBefore(heard),
    said: heard.kind === "edited" ? null : heard.review,
  });
  if (heard.kind === "edited") countEdit(trial.tally, heard.action, judged.review);
  else compare(trial, heard, judged);
}

/** Most actions are small and of a known tool: those are judged without waiting for anything. */
function hear(trial: Trial, replay: Replay, heard: Heard): void | Promise<void> {
  countHeard(trial.tally, heard);
  if (heard.kind !== "reviewed" && heard.kind !== "edited") return;
  if (!isWanted(trial.tally, heard.action)) return;
  if (heard.kind === "edited") return reviewLater(trial, replay, heard);
  const panel = trial.panels(heard.review);
  if (panel instanceof Promise) return panel.then((found) => hearReview(trial, replay, heard, found));
  return hearReview(trial, replay, heard, panel);
}

function hearReview(trial: Trial, replay: Replay, heard: Reviewed, panel: Panel): void | Promise<void> {
  trial.judging.set(heard.action, panel);
  if (isArtifactRef(heard.action.args)) return reviewLater(trial, replay, heard);
  const { action, now, review: said } = heard;
  const told = { args: action.args, now, needsBefore: needsBefore(heard), said };
  const judged = judge(trial, replay, heard.action, told);
  if (!(judged instanceof Promise)) return compare(trial, heard, judged);
  return judged.then((later) => compare(trial, heard, later));
}

export async function runBacktest(
  place: Place,
  candidate: Candidate,
  options: BacktestOptions & Playing = {},
): Promise<BacktestReport> {
  const { since = null, limit = DEFAULT_LIMIT, amount = null, ...playing } = options;
  const tally = openTally({ since, limit, amount });
  const panels = panelsOf(place, candidate);
  const judging = new WeakMap<RecordedAction, Panel>();
  const trial = { place, candidate, validators: validatorsOf(place), panels, judging, tally };
  await playJournal(place, (heard, replay) => hear(trial, replay, heard), playing);
  checkSought(tally.sought, tally.counts.compared);
  return reportOf(tally, { name: candidate.name, digest: candidate.digest });
}
