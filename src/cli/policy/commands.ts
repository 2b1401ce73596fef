/**
 * The commands `holdpoint policy …`: names, flags, help. Implementations are loaded when they run, except the list.
 * `--since` takes a span, a day or a time.
 */

import type { PolicyVersionSummary } from "../../policy/contract.ts";
import { DEFAULT_MIN_DECISIONS } from "../../runtime/settings.ts";
import { listing, resourceCommand } from "../resource.ts";
import { type Command, CommandError, type Context, EXIT, flag, word } from "../shell/command.ts";
import { jsonWithMicros } from "../shell/lists.ts";
import { parseTime } from "../shell/parse.ts";
import { programText, shortDigest, untilText } from "./words.ts";

const TOOLS = {
  value: "<file>",
  summary: "a program whose default export declares tools, or a list of them in JSON",
} as const;

export const policyCheck: Command = {
  name: "policy check",
  words: ["<file>"],
  summary: "Check a policy file; report faults by line and column",
  details: [
    "YAML or JSON, or a module in TypeScript whose default export is the document. Quorums are checked against the people that the store knows.",
    "Expressions are checked against the tools' schemas: those of --tools, else those that the journal kept when it asked people.",
  ],
  examples: ["holdpoint policy check policy.yaml --tools tools.ts"],
  flags: { tools: TOOLS },
  storeless: true,
  run: async (context) => (await import("./check.ts")).runCheck(context),
};

export const policyExplain: Command = {
  name: "policy explain",
  words: ["<action>"],
  summary: "Explain the verdict on an action, rule by rule",
  details: [
    'A file with the action, { "tool", "args", "agent", "workflow", "history", "now" }, or the id of one in the journal: then with what its policy was told at that time, by the version that its verdict names.',
  ],
  examples: ["holdpoint policy explain act_01K9ZQ"],
  flags: {
    policy: { value: "<file>", summary: "by this policy" },
    now: {
      summary: "by the policy in force now, not by the one at the time; an action from a file always is",
    },
    tools: TOOLS,
  },
  storeless: true,
  run: async (context) => (await import("./explain.ts")).runExplain(context),
};

export const policyShow: Command = {
  name: "policy show",
  words: ["<name or digest>"],
  summary: "Print the document of a policy version",
  details: ["A digest may be shortened to its beginning, at least six digits."],
  examples: ["holdpoint policy show refunds"],
  flags: {},
  run: async (context) => (await import("./print.ts")).runShow(context),
};

export const policyTest: Command = {
  name: "policy test",
  words: ["[file…]"],
  summary: "Run the test cases of policies",
  details: [
    "Of refunds.yaml, or of refunds.ts, they stand in refunds.test.yaml. Without a file, all that are found in this folder and below it.",
  ],
  examples: ["holdpoint policy test"],
  onlyHere: "it reads files of this machine",
  flags: { tools: TOOLS },
  storeless: true,
  tenantless: true,
  run: async (context) => (await import("./check.ts")).runTest(context),
};

const SPAN = /^(\d{1,6})(m|h|d|w)$/;
const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const MOST = 999_999_999;

export function momentSince(given: string, now: number): number | undefined {
  const [, count, unit = ""] = SPAN.exec(given.trim()) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  return parseTime(DAY.test(given.trim()) ? `${given.trim()}T00:00:00Z` : given);
}

function sinceFlag(context: Pick<Context, "values" | "now">): { readonly since?: number } {
  const given = flag(context, "since");
  if (given === undefined) return {};
  const since = momentSince(given, context.now);
  if (since !== undefined) return { since };
  throw new CommandError(
    "usage",
    `--since "${given}" is neither a span nor a day nor a time.`,
    "Such as --since 7d, --since 12h, --since 2026-05-04 or --since 2026-05-04T10:00:00Z",
  );
}

/** Integer value of a flag. */
function countFlag(context: Pick<Context, "values">, name: string, least: number): number | undefined {
  const given = flag(context, name);
  if (given === undefined) return undefined;
  const count = /^\d{1,9}$/.test(given) ? Number(given) : -1;
  if (count >= least) return count;
  const what = `--${name} "${given}" is not a whole number from ${least} to ${MOST}.`;
  throw new CommandError("usage", what, `Such as --${name} ${Math.max(least, 10)}`);
}

const shareOfJournal =
  ({ progress }: Context["terminal"]) =>
  (done: number, total: number): void =>
    progress(`${Math.floor((done / Math.max(1, total)) * 100)} % of the journal …`);

const SINCE = {
  value: "<when>",
  summary: "only actions proposed since then: 7d, 12h, a day or a time; all of them unless set",
} as const;

export const policySuggest: Command = {
  name: "policy suggest",
  words: [],
  summary: "Suggest rules and grants from past decisions",
  details: [
    "Grouped by tool and agent: amounts up to the highest that was approved; texts among those that were; no other arguments. What is too different each time is left open, and named.",
  ],
  examples: ["holdpoint policy suggest --since 30d"],
  onlyHere: "it goes over the whole journal",
  flags: {
    since: SINCE,
    min: {
      value: "<n>",
      summary: `how many approvals a suggestion takes; ${DEFAULT_MIN_DECISIONS} unless set`,
    },
    full: { summary: "print each also as a standing grant and as a rule, to paste" },
  },
  async run(context) {
    const { terminal, hp } = context;
    const min = countFlag(context, "min", 1) ?? DEFAULT_MIN_DECISIONS;
    const found = await hp.policies.suggest({
      ...sinceFlag(context),
      min,
      progress: shareOfJournal(terminal),
    });
    terminal.progress(null);
    if (context.json) terminal.json(jsonWithMicros(found));
    else (await import("./print.ts")).printSuggestions(context, found, min);
    return EXIT.ok;
  },
};

const DEFAULT_LIMIT = 20;

function amountOf(context: Context): { readonly amount?: string } {
  const given = flag(context, "amount");
  return given === undefined ? {} : { amount: given.replace(/^args\./, "") };
}

export const policyBacktest: Command = {
  name: "policy backtest",
  words: ["<file>"],
  summary: "Replay recorded actions under a candidate policy",
  details: [
    "Plays the journal again: arguments as proposed, agent, time, and the workflow's history as it stood then. Nothing is written.",
    "First comes what people rejected or changed and the policy would let through without asking.",
    "It replaces the document of its name, else the instance's. Other documents that were asked, as those of supervised runs, are asked beside it, and the stricter counts. What is in code cannot be asked.",
  ],
  examples: ["holdpoint policy backtest policy.yaml --since 7d --fail-over 0"],
  onlyHere: "it goes over the whole journal",
  flags: {
    since: SINCE,
    limit: {
      value: "<n>",
      summary: `how many changes are listed; ${DEFAULT_LIMIT} unless set; all are counted`,
    },
    "fail-over": { value: "<n>", summary: "exit with 1 if more than so many would change" },
    amount: { value: "<argument>", summary: "a number among the arguments, such as amount_usd, to sum up" },
  },
  async run(context) {
    const { terminal, hp } = context;
    const limit = countFlag(context, "limit", 0) ?? DEFAULT_LIMIT;
    const most = countFlag(context, "fail-over", 0);
    const options = { ...sinceFlag(context), ...amountOf(context), limit };
    const { loadPolicy } = await import("./load.ts");
    const { document } = await loadPolicy(context, word(context));
    const report = await hp.policies.backtest(document, {
      ...options,
      progress: shareOfJournal(terminal),
    });
    terminal.progress(null);
    if (context.json) terminal.json(report);
    else (await import("./print.ts")).printBacktest(terminal, report, options.amount);
    return most !== undefined && report.changed > most ? EXIT.refused : EXIT.ok;
  },
};

const untilCell = (version: PolicyVersionSummary, now: number) =>
  version.standing === "used" || version.until === null ? untilText(version, now) : { at: version.until };

export const policyList = resourceCommand({
  name: "policy list",
  group: "policies",
  summary: "List the policy versions that were in force",
  details: [
    "A version is in force while a program judges by it: from its first effect on, until it ends or takes another version.",
    "In a pipe each line is tab-separated: name, digest, in force since, until (- while it is, or where that is not known), put in force by, file, used or ended or unused, the program that judges by it or did last (-: none).",
  ],
  flags: {},
  parts: {
    list: listing<PolicyVersionSummary>({
      read: ({ hp }) => hp.policies.list(),
      columns: [
        ["POLICY", ({ name }) => name],
        ["DIGEST", ({ digest }) => shortDigest(digest)],
        ["IN FORCE SINCE", ({ at }) => ({ at })],
        ["UNTIL", untilCell],
        ["BY", programText],
        ["FROM", ({ source }) => source],
      ],
      piped: [
        ...["POLICY", ({ digest }: PolicyVersionSummary) => digest],
        ...["IN FORCE SINCE", ({ until }: PolicyVersionSummary) => ({ at: until })],
        ({ by }) => by,
        "FROM",
        ({ standing }) => standing,
        (version) => (version.programs.length === 0 ? "-" : programText(version)),
      ],
      givesWay: ["DIGEST", "FROM"],
      empty: "No policy document was ever in force here; tools may have policies of their own in code.",
    }),
  },
});
