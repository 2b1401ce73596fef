/** Policy methods for embedding programs: versions that were in force, and what another policy would have decided. */

import { checkFields, checkId, checkListener, rejectInput } from "../kernel/fields.ts";
import type { RuntimeOpener } from "../runtime/runtime.ts";
import { listRecordedTools, type RecordedTool } from "./backtest/recorded-tools.ts";
import { type ReplayResult, readFirstReview } from "./backtest/replay-journal.ts";
import type { BacktestReport } from "./backtest/rules/report.ts";
import { type BacktestOptions, runBacktest } from "./backtest/run.ts";
import { type Suggestions, type SuggestOptions, suggestRules } from "./backtest/suggest.ts";
import { compileForTrial } from "./read.ts";
import type { PolicyText } from "./rules/document.ts";
import {
  type AdoptedPolicyVersion,
  getPolicy,
  listPolicies,
  listVersions,
  type PolicyVersionDetails,
  type PolicyVersionSummary,
} from "./versions.ts";

export type Policies = {
  /** Every version that was put in force, oldest first per policy, with the programs that judge or judged by it. */
  list(): Promise<readonly PolicyVersionSummary[]>;
  /** The same versions, without looking up programs. */
  versions(): Promise<readonly AdoptedPolicyVersion[]>;
  /** A policy with its document. By name: the version put in force last. By digest or its beginning: that version. */
  get(id: string): Promise<PolicyVersionDetails>;
  /** Tools in the journal, with their recorded schemas. */
  tools(): Promise<readonly RecordedTool[]>;
  /** What the policy received at the first review of a recorded action, and what it answered. */
  told(action: string): Promise<ReplayResult>;
  /** Every recorded action whose verdict another policy would change. Writes nothing. */
  backtest(document: PolicyText, options?: BacktestOptions): Promise<BacktestReport>;
  /** Suggests rules and grants that past human decisions support. */
  suggest(options?: SuggestOptions): Promise<Suggestions>;
};

const POLICY = "A policy";

function checkWhen(what: string, given: { readonly since?: unknown; readonly progress?: unknown }): void {
  if (given.since !== undefined && !Number.isFinite(given.since))
    rejectInput(`${what}: since is a time in milliseconds since 1970.`);
  checkListener(given.progress);
}

function checkCount(what: string, value: unknown, least: number): void {
  if (value !== undefined && !(Number.isInteger(value) && Number(value) >= least))
    rejectInput(`${what} is a whole number of at least ${least}.`);
}

function checkBacktest(options: BacktestOptions): BacktestOptions {
  checkFields("A back-test", options, ["since", "limit", "amount", "progress"]);
  checkWhen("A back-test", options);
  checkCount("A back-test's limit", options.limit, 0);
  if (options.amount !== undefined && typeof options.amount !== "string")
    rejectInput("A back-test's amount is the name of an argument.");
  return options;
}

function checkSuggestions(options: SuggestOptions): SuggestOptions {
  checkFields("A suggestion", options, ["since", "min", "progress"]);
  checkWhen("A suggestion", options);
  checkCount("The number of approvals that a suggestion takes", options.min, 1);
  return options;
}

export function policiesOf(open: RuntimeOpener): Policies {
  return {
    list: async () => listPolicies(await open()),
    versions: async () => listVersions(await open()),
    get: async (id) => getPolicy(await open(), checkId(POLICY, id)),
    tools: async () => listRecordedTools(await open()),
    told: async (action) => readFirstReview(await open(), checkId("An action", action)),
    async backtest(document, options = {}) {
      const candidate = compileForTrial(document);
      return runBacktest(await open(), candidate, checkBacktest(options));
    },
    suggest: async (options = {}) => suggestRules(await open(), checkSuggestions(options)),
  };
}
