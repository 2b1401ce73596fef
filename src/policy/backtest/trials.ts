/**
 * Back-tests that run in the background and are polled, for example over HTTP.
 * - One at a time per instance: each reads the whole journal.
 * - Yields to other work, and ends when the instance closes.
 * - Kept in memory only: the latest few, for an hour.
 */

import { shortFieldsFirst } from "../../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import { createYieldCheck, type YieldCheck } from "../../runtime/concurrency.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { Trial, TrialTerms } from "../contract.ts";
import { compileForTrial } from "../read.ts";
import { loadRecordedArgs } from "./replay-journal.ts";
import type { BacktestReport, VerdictChange } from "./rules/answers.ts";
import type { Candidate } from "./run.ts";
import { runBacktest } from "./run.ts";

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

async function run(
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
  run(runtime, held, candidate, terms).catch(() => undefined);
  return shownOf(held);
}

export function getTrial(runtime: Runtime, id: string): Trial {
  const held = listKeptTrials(runtime).find((one) => one.id === id);
  if (held !== undefined) return shownOf(held);
  throw new HoldpointError("unknown_id", `There is no back-test ${id}.`, {
    next: "Begin it again: a back-test is kept for an hour, by the server that ran it.",
  });
}
