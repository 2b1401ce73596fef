/**
 * Back-tests that run in the background and are polled, for example over HTTP.
 * - One at a time per instance: each reads the whole journal.
 * - Yields to other work, and ends when the instance closes.
 * - Kept in memory only: the latest few, for an hour.
 */

import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { createYieldCheck } from "../../runtime/concurrency.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readPolicyForTrial } from "../read.ts";
import type { Candidate } from "./candidate-policy.ts";
import { runBacktest } from "./run.ts";
import { readListedArgs, sortChanges, type TrialReport, trialReport } from "./trial-report.ts";

type TrialTerms = {
  /** The policy, as YAML or JSON. */
  readonly text: string;
  /** Only actions proposed at or after this time. Default: all. */
  readonly since?: number;
  /** An argument to sum over the changes, such as `amount_usd`. */
  readonly amount?: string;
};

export type Trial = {
  readonly id: string;
  readonly state: "running" | "done" | "failed";
  /** Progress in the journal. */
  readonly read: number;
  readonly of: number;
  readonly fault: string | null;
  readonly report: TrialReport | null;
};

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
      ...(since === undefined ? {} : { since }),
      ...(amount === undefined ? {} : { amount }),
      pace,
      progress: (read, of) => Object.assign(held, { read, of: Math.max(read, of) }),
    });
    const changed = sortChanges(report).map(({ action }) => action);
    const args = await readListedArgs(runtime, changed, pace);
    Object.assign(held, { state: "done", read: held.of, report: trialReport(report, amount, args) });
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
  checkFree(listKeptTrials(runtime));
  const candidate = await readPolicyForTrial(terms.text);
  const book = listKeptTrials(runtime);
  checkFree(book);
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
