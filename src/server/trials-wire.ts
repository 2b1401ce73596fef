/** Policies on trial, as they stand on the wire. */
import type { ExplainedAction } from "../engine/backtest/explain-action.ts";
import { GRANTED_DAYS, grantOf, type SuggestedGrant } from "../engine/backtest/suggested-grant.ts";
import { grantWords, headline, ruleLines, ruleWords } from "../engine/backtest/suggested-text.ts";
import type { ListedChange, TrialReport } from "../engine/backtest/trial-report.ts";
import type { Trial } from "../engine/backtest/trials.ts";
import type { CheckedText } from "../engine/policy/check-text.ts";
import type { Suggestions } from "../engine/suggest-rules.ts";
import { money, time } from "./wire.ts";

export function checkedOnWire({ read, unchecked }: CheckedText) {
  return {
    name: read.ok ? read.policy.name : null,
    digest: read.ok ? read.policy.digest : null,
    remarks: read.findings,
    is_all: read.ok || read.looked === "whole",
    unchecked,
  };
}

export function explainedOnWire({ policy, final, risk, rules, recorded, notes }: ExplainedAction) {
  const { isChanged: changed, ...said } = final;
  return {
    policy: policy.name,
    digest: policy.digest,
    final: { ...said, changed },
    risk: risk && { level: risk.level, score: risk.score, conditions: risk.conditions },
    ...{ rules, recorded, notes },
  };
}

function changeOnWire({ action, people, at, ...facts }: ListedChange) {
  return {
    action_id: action,
    ...facts,
    at: time(at),
    // On the wire, as with approvals.
    people: people === "edited" ? "modified" : people,
  };
}

const reportOnWire = ({ listed, ...report }: TrialReport) => ({
  ...report,
  listed: listed.map(changeOnWire),
});

export function trialOnWire({ id, state, read, of, fault, report }: Trial) {
  return { trial_id: id, state, read, of, fault, report: report && reportOnWire(report) };
}

/** What `POST /api/grants` takes. */
function offerOnWire({ tool, agent, when, uses, limit, reason }: SuggestedGrant) {
  return {
    tool,
    agent,
    ...(when === "" ? {} : { when }),
    uses,
    for_seconds: GRANTED_DAYS * 86_400,
    ...(limit === null ? {} : { total: money(limit.total), amount: limit.amount }),
    reason,
  };
}

export function suggestionOnWire(suggestion: Suggestions["suggestions"][number]) {
  const { tool, agent, when, approved, people, days, letThrough, keptOut, open, asRule } = suggestion;
  const grant = grantOf(suggestion);
  return {
    headline: headline(suggestion),
    ...{ tool, agent, when, approved, people, days },
    let_through: letThrough.total,
    kept_out: keptOut,
    open,
    rule: `${ruleLines(suggestion, asRule).join("\n")}\n`,
    as_rule: ruleWords(asRule),
    grant: grant && offerOnWire(grant),
    as_grant: `${grantWords(suggestion)}${grant === null ? "" : "."}`,
  };
}
