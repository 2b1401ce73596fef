/** Implementation of the verbs of policies. */
import { parseInput } from "../kernel/contract.ts";
import type { RuntimeOpener } from "../runtime/runtime.ts";
import { bindLibrary, capability, readVerb, runVerb } from "../runtime/verb.ts";
import { readFirstReview } from "./backtest/replay-journal.ts";
import { beginTrial, getTrial, runBacktest } from "./backtest/run.ts";
import { suggestRules } from "./backtest/suggest.ts";
import { backtestOptions, type Policies, policies } from "./contract.ts";
import { explainAction } from "./explain-action.ts";
import { checkPolicyText, compileForTrial } from "./read.ts";
import { listRecentTools, listRecordedTools } from "./recorded-tools.ts";
import { getPolicy, listPolicies, listVersions } from "./versions.ts";

export const policyVerbs = capability(policies, {
  list: readVerb(listPolicies),
  versions: readVerb(listVersions),
  get: readVerb((runtime, { name }) => getPolicy(runtime, name)),
  tools: readVerb(listRecordedTools),
  told: readVerb((runtime, { id }) => readFirstReview(runtime, id)),
  check: readVerb(async (runtime, { text }) =>
    checkPolicyText(runtime, text, await listRecentTools(runtime)),
  ),
  explain: readVerb(async (runtime, input) => explainAction(runtime, input, await listRecentTools(runtime))),
  beginTrial: runVerb(({ runtime }, terms) => beginTrial(runtime, terms)),
  trial: readVerb(async (runtime, { id }) => getTrial(runtime, id)),
  suggest: readVerb(suggestRules),
});

export function policiesOf(open: RuntimeOpener): Policies {
  return {
    ...bindLibrary(open, policyVerbs),
    async backtest(document, options = {}) {
      const candidate = compileForTrial(document);
      const checked = parseInput("A back-test", backtestOptions, options);
      return runBacktest(await open(), candidate, checked);
    },
  };
}
