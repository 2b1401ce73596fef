/**
 * Runs a candidate policy against the journal: finds every recorded action whose verdict it would change.
 * - The candidate takes the place of one of the documents that judged an action: its own version, else the document of
 *   its name, else the first, which is the instance's. The others, such as those of a supervised run, are evaluated as
 *   they were. The strictest verdict applies.
 * - A document that is gone, or that only its program can run, is reported: without it the verdict may differ.
 *
 * A trial is a back-test in the background that is polled, for example over HTTP: one at a time per instance, since each reads the
 * whole journal. It yields to other work and ends when the instance closes. The latest few are kept in memory, for an hour.
 */
import { documentsNamed } from "../../effects/state.ts";
import { digestOf, shortFieldsFirst } from "../../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import { actionStream } from "../../kernel/stream.ts";
import { createYieldCheck, type YieldCheck } from "../../runtime/concurrency.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { BacktestOptions, Trial, TrialTerms } from "../contract.ts";
import { compileForTrial } from "../read.ts";
import { type Validate, type Validators, validatorsOf } from "../recorded-tools.ts";
import { stricterVerdict, withNotesOf } from "../rules/combine-verdicts.ts";
import { compilePolicy } from "../rules/compile.ts";
import { type Review, reviewAction } from "../rules/review.ts";
import { type CallKind, UNDO_NOT_NAMED } from "../rules/tools.ts";
import type { PolicyInput, Verdict } from "../rules/verdict.ts";
import { loadKeptDocument, loadPolicyNames } from "../versions.ts";
import { loadRecordedArgs, type ReplayOptions, replayJournal } from "./replay-journal.ts";
import type { BacktestReport, VerdictChange } from "./rules/answers.ts";
import type { DigestedReview } from "./rules/compare-answers.ts";
import {
  callKindOfAction,
  mayBeLeftAlone,
  type RecordedAction,
  type RecordedReview,
  type Replay,
  type ReplayEvent,
} from "./rules/replay.ts";
import {
  type BacktestTally,
  checkAmountFound,
  countEdit,
  countEvent,
  countReview,
  isInPeriod,
  openTally,
  readAmount,
  reportOf,
  startAmountSearch,
} from "./rules/tally.ts";

/** Of the lists of changes. All are counted. */
const DEFAULT_LIMIT = 100;

/** The parts of a compiled policy that a back-test needs. */
type Candidate = {
  readonly name: string;
  readonly digest: string;
  judge(input: PolicyInput, asked?: CallKind): Verdict;
  /** Whether the policy limits the number of calls of this tool. */
  countsCalls(tool: string): boolean;
  readonly limits?: { readonly toolCalls?: number };
};

type JudgeFunction = Candidate["judge"];

/** The documents that judge an action. */
type Panel = {
  /** With the candidate in place. */
  readonly judge: JudgeFunction;
  /** As it was; null if no document judged, or if not all of them can be evaluated any more. */
  readonly before: JudgeFunction | null;
  /** Documents judged, not only code. */
  readonly hasDocuments: boolean;
  /** All documents next to the candidate can be evaluated. */
  readonly isWhole: boolean;
};

/** The first is the innermost, as in `apply-to-tool.ts` when they are in force. */
function judgeTogether(documents: readonly Pick<Candidate, "judge">[]): JudgeFunction {
  const [first, ...rest] = documents as readonly [Candidate, ...Candidate[]];
  return (input, asked = "call") =>
    rest.reduce(
      (other, document) => {
        const said = document.judge(input, asked);
        return said.rule === UNDO_NOT_NAMED ? withNotesOf(other, said) : stricterVerdict(said, other);
      },
      first.judge(input, asked),
    );
}

async function loadKeptPolicy(place: TenantStore, digest: string): Promise<readonly Candidate[]> {
  const document = await loadKeptDocument(place, digest);
  const made = document === undefined ? undefined : compilePolicy(document, null);
  return made?.ok === true ? [made.policy] : [];
}

type Names = ReadonlyMap<string, string>;

const saysDocuments = ({ documents, document }: RecordedReview): boolean =>
  documents !== undefined || document !== undefined;

async function loadPanel(
  place: TenantStore,
  candidate: Candidate,
  review: RecordedReview,
  names: Names,
): Promise<Panel> {
  // A possible digest counts only if a document is stored under it.
  const digests = documentsNamed(review).filter((one) => saysDocuments(review) || names.has(one));
  if (digests.length === 0)
    return { judge: judgeTogether([candidate]), before: null, hasDocuments: false, isWhole: true };
  const kept = await Promise.all(digests.map((digest) => loadKeptPolicy(place, digest)));
  const own = digests.indexOf(candidate.digest);
  const named = digests.findIndex((one) => names.get(one) === candidate.name);
  const at = own >= 0 ? own : Math.max(0, named);
  const now = kept.flatMap((one, index) => (index === at ? [candidate] : one));
  const before = kept.flat();
  return {
    judge: judgeTogether(now),
    before: before.length === kept.length ? judgeTogether(before) : null,
    hasDocuments: true,
    isWhole: now.length === kept.length,
  };
}

/** Caches each combination of documents. */
function panelsOf(
  place: TenantStore,
  candidate: Candidate,
): (review: RecordedReview) => Panel | Promise<Panel> {
  const known = new Map<string, Panel>();
  let names: Promise<Names> | undefined;
  return (review) => {
    const key = `${saysDocuments(review)} ${documentsNamed(review).join(" ")}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    names ??= loadPolicyNames(place);
    return names.then(async (all) => {
      const made = await loadPanel(place, candidate, review, all);
      known.set(key, made);
      return made;
    });
  };
}

type Reviewed = Extract<ReplayEvent, { kind: "reviewed" }>;
type Edited = Extract<ReplayEvent, { kind: "edited" }>;

type BacktestRun = {
  readonly place: TenantStore;
  readonly candidate: Candidate;
  readonly validators: Validators;
  readonly panels: ReturnType<typeof panelsOf>;
  /** Known from an action's review on. */
  readonly judging: WeakMap<RecordedAction, Panel>;
  readonly tally: BacktestTally;
};

const digested = ({ action }: Reviewed, review: Review): DigestedReview => ({
  review,
  digest: review.revisions.length === 0 ? action.argsDigest : digestOf(review.args),
});

/** Most actions are unchanged and not escalated: then the old documents' answer is the recorded one. */
const needsBefore = ({ review, digest }: DigestedReview, recorded: RecordedReview): boolean =>
  review.verdict === "escalate" || review.verdict !== recorded.verdict || digest !== recorded.argsDigest;

type Judging = { readonly event: Reviewed | Edited; readonly args: Json; readonly validate: Validate };

function judge(
  { candidate, judging, tally }: BacktestRun,
  replay: Replay,
  { event, args, validate }: Judging,
): void {
  const { action, now } = event;
  const { input, isWhole } = replay.input(action, { args, now });
  const panel = judging.get(action);
  const earlier = panel?.before ?? null;
  const as = (asked: CallKind) => (by: JudgeFunction) =>
    reviewAction({ policy: (one) => by(one, asked), validate }, input);
  const isLeft = event.kind === "reviewed" && mayBeLeftAlone(action, event.review) && earlier !== null;
  const by = as(isLeft && as("call")(earlier).verdict !== "approve" ? "undo" : callKindOfAction(action));
  const review = by(panel?.judge ?? candidate.judge);
  if (event.kind === "edited") {
    countEdit(tally, action, review);
    return;
  }
  const answer = digested(event, review);
  const asksBefore = earlier !== null && needsBefore(answer, event.review);
  const before = asksBefore ? digested(event, by(earlier)) : null;
  countReview(
    tally,
    event,
    {
      ...answer,
      before: panel?.hasDocuments === false ? "code" : before,
      countsCalls: candidate.countsCalls(action.tool),
      limitsRun: candidate.limits?.toolCalls !== undefined,
    },
    {
      amount: readAmount(tally.options.sought, args),
      isWhole: isWhole(),
      isBesideWhole: panel?.isWhole !== false,
    },
  );
}

async function judgeLater(running: BacktestRun, replay: Replay, event: Reviewed | Edited): Promise<void> {
  const { place, panels, judging, tally, validators } = running;
  if (event.kind === "reviewed") judging.set(event.action, await panels(event.review));
  const args = await loadRecordedArgs(place, event.kind === "edited" ? event.args : event.action.args);
  if (args === undefined) {
    tally.counts[event.kind === "edited" ? "decisions" : "gone"] += 1;
    return;
  }
  judge(running, replay, { event, args, validate: await validators(event.action.schema) });
}

/** Most actions are small, of a known tool and judged by known documents. Those are judged without awaiting anything. */
function handleEvent(running: BacktestRun, replay: Replay, event: ReplayEvent): void | Promise<void> {
  const { tally, panels, judging, validators } = running;
  countEvent(tally, event);
  if (event.kind !== "reviewed" && event.kind !== "edited") return;
  const { action } = event;
  if (!isInPeriod(tally, action.proposedAt)) return;
  if (event.kind === "edited" || isArtifactRef(action.args)) return judgeLater(running, replay, event);
  const panel = panels(event.review);
  const validate = validators(action.schema);
  if (panel instanceof Promise || validate instanceof Promise) return judgeLater(running, replay, event);
  judging.set(action, panel);
  judge(running, replay, { event, args: action.args, validate });
}

export async function runBacktest(
  place: TenantStore,
  candidate: Candidate,
  options: BacktestOptions & Pick<ReplayOptions, "pace"> = {},
): Promise<BacktestReport> {
  const { since = null, limit = DEFAULT_LIMIT, amount, ...playing } = options;
  const sought = amount === undefined ? null : startAmountSearch(amount);
  const running = {
    ...{ place, candidate, validators: validatorsOf(place), panels: panelsOf(place, candidate) },
    judging: new WeakMap<RecordedAction, Panel>(),
    tally: openTally({ since, limit, sought }),
  };
  await replayJournal(place, (event, replay) => handleEvent(running, replay, event), playing);
  checkAmountFound(sought, running.tally.counts.compared);
  return reportOf(running.tally, { name: candidate.name, digest: candidate.digest });
}

type KeptTrial = { -readonly [Field in keyof Trial]: Trial[Field] } & {
  /** When it was started, then when it ended. */
  since: number;
};

const MOST_KEPT = 10;
const KEPT_MS = 3_600_000;
const LOOK_AGAIN_SECONDS = 5;

const trialsByRuntime = new WeakMap<Runtime, readonly KeptTrial[]>();

/** Oldest first, without expired ones. */
function listKeptTrials(runtime: Runtime): readonly KeptTrial[] {
  const now = runtime.clock.now();
  const isKept = ({ state, since }: KeptTrial) => state === "running" || now - since < KEPT_MS;
  return (trialsByRuntime.get(runtime) ?? []).filter(isKept);
}

/** An error that the policy did not cause is reported to the instance's operator. */
function faultOf({ notify, closing }: Runtime, error: unknown): string {
  if (isHoldpointError(error)) return `${error.what} ${error.next}`;
  if (!closing.aborted) notify({ kind: "maintenance_failed", error });
  return "Something went wrong that has no name; nothing was changed by it.";
}

const MOST_LISTED_CHARACTERS = 2_000;

/** The beginning as JSON, short fields first; null if erased or gone. */
async function readProposedArgs(place: TenantStore, action: string): Promise<VerdictChange["args"]> {
  const [first] = await place.store.read(place.tenant, actionStream(action), { limit: 1 });
  if (first === undefined || first.body === null) return null;
  const args = await loadRecordedArgs(place, (JSON.parse(first.body) as { readonly args: Json }).args);
  if (args === undefined) return null;
  const text = shortFieldsFirst(args);
  return { text: text.slice(0, MOST_LISTED_CHARACTERS).toWellFormed(), characters: text.length };
}

async function withListedArgs(
  place: TenantStore,
  report: BacktestReport,
  pace: YieldCheck,
): Promise<BacktestReport> {
  const known = new Map<string, VerdictChange["args"]>();
  for (const { action } of [...report.dangers, ...report.changes]) {
    if (!known.has(action)) known.set(action, await readProposedArgs(place, action));
    await pace();
  }
  const withArgs = (change: VerdictChange) => ({ ...change, args: known.get(change.action) });
  return { ...report, dangers: report.dangers.map(withArgs), changes: report.changes.map(withArgs) };
}

async function runTrial(
  runtime: Runtime,
  held: KeptTrial,
  candidate: Candidate,
  terms: TrialTerms,
): Promise<void> {
  const { since } = terms;
  const amount = terms.amount?.replace(/^args\./, "");
  const pace = createYieldCheck(runtime);
  try {
    const report = await runBacktest(runtime, candidate, {
      ...{ since, amount, pace },
      progress: (read, of) => Object.assign(held, { read, of: Math.max(read, of) }),
    });
    const withArgs = await withListedArgs(runtime, report, pace);
    Object.assign(held, { state: "done", read: held.of, report: withArgs });
  } catch (error) {
    Object.assign(held, { state: "failed", fault: faultOf(runtime, error) });
  }
  held.since = runtime.clock.now();
}

function checkFree(book: readonly KeptTrial[]): void {
  if (book.every(({ state }) => state !== "running")) return;
  throw new HoldpointError("rate_limited", "A back-test is under way already.", {
    details: { retry_after: LOOK_AGAIN_SECONDS },
  });
}

const shownOf = ({ since: _, ...trial }: KeptTrial): Trial => trial;

/** Resolves as soon as the trial has started. */
export async function beginTrial(runtime: Runtime, terms: TrialTerms): Promise<Trial> {
  const book = listKeptTrials(runtime);
  checkFree(book);
  const candidate = compileForTrial(terms.text);
  const begun = { id: freshId(runtime, "trl"), since: runtime.clock.now(), state: "running" } as const;
  const held: KeptTrial = { ...begun, read: 0, of: 0, fault: null, report: null };
  trialsByRuntime.set(runtime, [...book, held].slice(-MOST_KEPT));
  runTrial(runtime, held, candidate, terms).catch(() => undefined);
  return shownOf(held);
}

export function getTrial(runtime: Runtime, id: string): Trial {
  const held = listKeptTrials(runtime).find((one) => one.id === id);
  if (held !== undefined) return shownOf(held);
  throw new HoldpointError("unknown_id", `There is no back-test ${id}.`, {
    next: "Begin it again: a back-test is kept for an hour, by the server that ran it.",
  });
}
