/** Runs a candidate policy against the journal: finds every recorded action whose verdict it would change. */

import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { BacktestOptions } from "../contract.ts";
import { type Review, reviewAction } from "../rules/review.ts";
import type { CallKind } from "../rules/tools.ts";
import {
  type Candidate,
  type JudgeFunction,
  type JudgingDocuments,
  type JudgingDocumentsFor,
  judgingDocumentsFor,
} from "./candidate-policy.ts";
import { type Validate, type Validators, validatorsOf } from "./recorded-tools.ts";
import { loadRecordedArgs, type ReplayOptions, replayJournal } from "./replay-journal.ts";
import type { BacktestReport } from "./rules/answers.ts";
import {
  callKindOfAction,
  mayBeLeftAlone,
  type RecordedAction,
  type RecordedReview,
  type Replay,
  type ReplayEvent,
} from "./rules/replay.ts";
import { checkAmountFound } from "./rules/report.ts";
import {
  type BacktestTally,
  type CandidateAnswer,
  countEdit,
  countEvent,
  countReview,
  isInPeriod,
  openTally,
  reportOf,
} from "./rules/tally.ts";

/** Of the lists of changes. All are counted. */
const DEFAULT_LIMIT = 100;

type Reviewed = Extract<ReplayEvent, { kind: "reviewed" }>;

type BacktestRun = {
  readonly place: TenantStore;
  readonly candidate: Candidate;
  readonly validators: Validators;
  readonly panels: JudgingDocumentsFor;
  /** The documents that judge an action, known from its review on. */
  readonly judging: WeakMap<RecordedAction, JudgingDocuments>;
  readonly tally: BacktestTally;
};

type Judged = {
  readonly review: Review;
  /** Review by the documents of that time; null if it is not needed or not possible. */
  readonly before: Review | null;
  readonly isWhole: boolean;
  readonly args: Json;
};

function judgeRecorded(
  { judging, candidate, validators }: BacktestRun,
  replay: Replay,
  action: RecordedAction,
  told: {
    readonly args: Json;
    readonly now: number;
    readonly needsBefore: (candidate: Review) => boolean;
    /** The recorded review; null if the action is judged as a person changed it. */
    readonly said: RecordedReview | null;
  },
): Judged | Promise<Judged> {
  const { input, isWhole } = replay.input(action, told);
  const panel = judging.get(action);
  const ask = (validate: Validate): Judged => {
    const earlier = panel?.before ?? null;
    const as = (asked: CallKind) => (judge: JudgeFunction) =>
      reviewAction({ policy: (one) => judge(one, asked), validate }, input);
    const isLeft = told.said !== null && mayBeLeftAlone(action, told.said) && earlier !== null;
    const by = as(isLeft && as("call")(earlier).verdict !== "approve" ? "undo" : callKindOfAction(action));
    const review = by(panel?.judge ?? candidate.judge);
    const before = earlier !== null && told.needsBefore(review) ? by(earlier) : null;
    return { review, before, isWhole: isWhole(), args: told.args };
  };
  const validate = validators(action.schema);
  return typeof validate === "function" ? ask(validate) : validate.then(ask);
}

const digestIn = ({ action }: Reviewed, review: Review): string =>
  review.revisions.length === 0 ? action.argsDigest : digestOf(review.args);

/** Most actions are unchanged and not escalated: then the old documents' answer is the recorded one. */
const needsBefore =
  (heard: Reviewed) =>
  (candidate: Review): boolean =>
    candidate.verdict === "escalate" ||
    candidate.verdict !== heard.review.verdict ||
    digestIn(heard, candidate) !== heard.review.argsDigest;

function compare(trial: BacktestRun, heard: Reviewed, judged: Judged): void {
  const { review: candidate, isWhole, args } = judged;
  const digest = digestIn(heard, candidate);
  const countsCalls = trial.candidate.countsCalls(heard.action.tool);
  const limitsRun = trial.candidate.limits?.toolCalls !== undefined;
  const panel = trial.judging.get(heard.action);
  const before: CandidateAnswer["before"] = panel?.hasDocuments === false ? "code" : judged.before;
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
  trial: BacktestRun,
  replay: Replay,
  heard: Reviewed | Extract<ReplayEvent, { kind: "edited" }>,
): Promise<void> {
  const kept = heard.kind === "edited" ? heard.args : heard.action.args;
  const args = await loadRecordedArgs(trial.place, kept);
  if (args === undefined) {
    trial.tally.counts[heard.kind === "edited" ? "decisions" : "gone"] += 1;
    return;
  }
  const judged = await judgeRecorded(trial, replay, heard.action, {
    args,
    now: heard.now,
    needsBefore: heard.kind === "edited" ? () => false : needsBefore(heard),
    said: heard.kind === "edited" ? null : heard.review,
  });
  if (heard.kind === "edited") countEdit(trial.tally, heard.action, judged.review);
  else compare(trial, heard, judged);
}

/** Most actions are small and of a known tool. Those are judged without awaiting anything. */
function handleEvent(trial: BacktestRun, replay: Replay, heard: ReplayEvent): void | Promise<void> {
  countEvent(trial.tally, heard);
  if (heard.kind !== "reviewed" && heard.kind !== "edited") return;
  if (!isInPeriod(trial.tally, heard.action)) return;
  if (heard.kind === "edited") return reviewLater(trial, replay, heard);
  const panel = trial.panels(heard.review);
  if (panel instanceof Promise) return panel.then((found) => handleReview(trial, replay, heard, found));
  return handleReview(trial, replay, heard, panel);
}

function handleReview(
  trial: BacktestRun,
  replay: Replay,
  heard: Reviewed,
  panel: JudgingDocuments,
): void | Promise<void> {
  trial.judging.set(heard.action, panel);
  if (isArtifactRef(heard.action.args)) return reviewLater(trial, replay, heard);
  const { action, now, review: said } = heard;
  const told = { args: action.args, now, needsBefore: needsBefore(heard), said };
  const judged = judgeRecorded(trial, replay, heard.action, told);
  if (!(judged instanceof Promise)) return compare(trial, heard, judged);
  return judged.then((later) => compare(trial, heard, later));
}

export async function runBacktest(
  place: TenantStore,
  candidate: Candidate,
  options: BacktestOptions & Pick<ReplayOptions, "pace"> = {},
): Promise<BacktestReport> {
  const { since = null, limit = DEFAULT_LIMIT, amount = null, ...playing } = options;
  const tally = openTally({ since, limit, amount });
  const panels = judgingDocumentsFor(place, candidate);
  const judging = new WeakMap<RecordedAction, JudgingDocuments>();
  const trial = { place, candidate, validators: validatorsOf(place), panels, judging, tally };
  await replayJournal(place, (heard, replay) => handleEvent(trial, replay, heard), playing);
  checkAmountFound(tally.sought, tally.counts.compared);
  return reportOf(tally, { name: candidate.name, digest: candidate.digest });
}
