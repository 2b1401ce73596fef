/** Finds mistakes in a document. Faults are certain; warnings are likely mistakes. */

import { isJsonObject } from "../../kernel/json.ts";
import { closestName } from "../../kernel/spelling.ts";
import type { CompileContext } from "./compile-expressions.ts";
import type {
  PolicyApprovers,
  PolicyDocument,
  PolicyFault,
  PolicyOutcome,
  PolicyRule,
  PolicyTerms,
} from "./document.ts";
import { approverRuleFrom, outcomeTerms } from "./judge.ts";
import { checkConditionNames, checkOurs, checkReach, checkSet } from "./lint-rules.ts";
import { TOO_FEW_PEOPLE, whyUnmeetable } from "./stages.ts";
import { FINAL, isPattern, type KnownTool, matchesGlob, patternsOf } from "./tools.ts";
import { ANY_ONE_PERSON, approverRule, nameFault, whyUnsatisfiable } from "./verdict.ts";

type Path = PolicyFault["path"];
type Escalation = Omit<PolicyTerms, "verdict" | "reason">;
const ESCALATION_KEYS = ["approvers", "stages", "decide_by", "execute_by", "on_timeout"] as const;

const UNTIMED = "without decide_by: it never comes to that";

function checkNamed({ report }: CompileContext, names: readonly string[], path: Path): void {
  for (const [index, who] of names.entries()) {
    const message = nameFault(who);
    if (message !== undefined) report.faults.push({ path: [...path, index], message });
  }
}

function checkApprovers(shop: CompileContext, given: PolicyApprovers, path: Path): void {
  const { report } = shop;
  const written = approverRuleFrom(given);
  checkNamed(shop, written.from ?? [], [...path, "from"]);
  checkNamed(shop, written.escalateAtHalf ?? [], [...path, "at_half_time", "also"]);
  const rule = approverRule(written);
  if (typeof rule === "string") {
    const isNamed = report.faults.some((fault) => fault.path.join().startsWith(path.join()));
    if (!isNamed) report.faults.push({ path, message: asWritten(rule) });
    return;
  }
  const { roster } = shop;
  const fault = whyUnsatisfiable(rule, roster?.suspended ?? [], roster === undefined ? {} : { roster });
  if (fault !== undefined) report.faults.push({ path, message: `the quorum can never be met: ${fault}` });
}

/** Rewords a fault with the keys of the file. */
const asWritten = (fault: string): string =>
  fault
    .replace("approvers.escalateAtHalf adds", "at_half_time adds")
    .replace(/^approvers\.remindEveryMs is.*$/, "remind_every is less than a minute")
    .replaceAll("approvers.", "");

/** A stage that cannot be met alone is reported separately. */
function checkSeats(
  { report, roster }: CompileContext,
  stages: readonly PolicyApprovers[],
  path: Path,
): void {
  const rules = stages.map((one) => ({ ...ANY_ONE_PERSON, ...approverRuleFrom(one), decideWithinMs: null }));
  const terms = { approvers: ANY_ONE_PERSON, stages: rules };
  const message = whyUnmeetable(terms, roster?.suspended ?? [], roster === undefined ? {} : { roster });
  if (message === TOO_FEW_PEOPLE) report.faults.push({ path, message });
}

function checkEscalation(shop: CompileContext, terms: Escalation, verdict: string, path: Path): void {
  const { report } = shop;
  for (const key of ESCALATION_KEYS) {
    if (verdict !== "escalate" && terms[key] !== undefined)
      report.faults.push({ path: [...path, key], message: `${key} belongs to escalate, not to ${verdict}` });
  }
  const { approvers, stages } = terms;
  if (approvers !== undefined && stages !== undefined)
    report.faults.push({
      path: [...path, "approvers"],
      message: "approvers and stages cannot both be there; make it the first stage",
    });
  if (approvers !== undefined) checkApprovers(shop, approvers, [...path, "approvers"]);
  for (const [index, stage] of (stages ?? []).entries())
    checkApprovers(shop, stage, [...path, "stages", index]);
  checkSeats(shop, stages ?? [], [...path, "stages"]);
  checkTimes(shop, terms, path);
}

function checkTimes({ report }: CompileContext, terms: Escalation, path: Path): void {
  const { approvers = {}, stages = [], on_timeout, decide_by } = terms;
  if (on_timeout === "escalate" && stages.length < 2)
    report.faults.push({
      path: [...path, "on_timeout"],
      message: "on_timeout: escalate hands over to the next stage, and there are not two stages",
    });
  const isTimed = decide_by !== undefined || stages.some((stage) => stage.decide_by !== undefined);
  if (on_timeout !== undefined && !isTimed)
    report.warnings.push({ path: [...path, "on_timeout"], message: `on_timeout ${UNTIMED}` });
  const isHalved = (rule: PolicyApprovers & { readonly decide_by?: string | undefined }) =>
    rule.at_half_time !== undefined && (rule.decide_by ?? decide_by) === undefined;
  if ([approvers, ...stages].some(isHalved))
    report.warnings.push({ path, message: `at_half_time ${UNTIMED}` });
}

function checkOutcome(shop: CompileContext, outcome: PolicyOutcome | undefined, path: Path): void {
  if (typeof outcome === "object") checkEscalation(shop, outcome, outcome.verdict, path);
}

function checkRule(shop: CompileContext, rule: PolicyRule, index: number): void {
  const { report } = shop;
  const path = ["rules", index];
  checkEscalation(shop, rule, rule.verdict, path);
  const sets = Object.keys(rule.set ?? {}).length;
  if (rule.verdict === "revise" && sets === 0)
    report.faults.push({ path, message: `${rule.id} revises, and has no set to say what` });
  if (rule.verdict !== "revise" && rule.set !== undefined)
    report.faults.push({ path: [...path, "set"], message: `set belongs to revise, not to ${rule.verdict}` });
  checkOurs(shop, rule, index);
  checkSet(shop, rule, index);
  if (rule.when === false || (typeof rule.when === "string" && rule.when.trim() === "false"))
    report.warnings.push({
      path: [...path, "when"],
      message: `${rule.id} can never match: its condition is false`,
    });
}

function checkIds({ document, report }: CompileContext): void {
  const seen = new Map<string, number>();
  for (const [index, { id }] of (document.rules ?? []).entries()) {
    const first = seen.get(id);
    if (first !== undefined)
      report.faults.push({
        path: ["rules", index, "id"],
        message: `the id ${id} is taken by rule ${first + 1}`,
      });
    if (/^(?:(?:limit|tools|risk|final|undo):|(?:default|policy)$)/.test(id))
      report.faults.push({
        path: ["rules", index, "id"],
        message: `the id ${id} is one of Holdpoint's own; take another`,
      });
    seen.set(id, first ?? index);
  }
}

/** A name that is nearly a tool's name is a typo; `pay_v1` next to `pay_v2` is not. */
function slipOf(name: string, known: readonly string[]): string | undefined {
  const meant = closestName(name, known);
  const withoutDigits = (text: string) => text.replace(/\d+/g, "");
  return meant !== undefined && withoutDigits(meant) !== withoutDigits(name) ? meant : undefined;
}

/** Several programs may share a policy, so a tool that this program lacks is only a warning. */
function checkNames({ tools, report }: CompileContext, names: readonly string[], path: Path): void {
  const calls = tools?.map(({ name }) => name) ?? [];
  // A compensation has its own tool name.
  const known = [...calls, ...calls.map((name) => `${name}.undo`)];
  for (const name of tools === null ? [] : names) {
    if (name === FINAL || known.some((tool) => matchesGlob(name, tool))) continue;
    const slip = isPattern(name) ? undefined : slipOf(name, known);
    if (slip === undefined)
      report.warnings.push({
        path,
        message: isPattern(name) ? `no tool fits ${name}` : `there is no tool ${name} here`,
      });
    else report.faults.push({ path, message: `there is no tool ${name} (did you mean ${slip}?)` });
  }
}

function checkTool(shop: CompileContext, name: string, effect: string | undefined): void {
  checkNames(shop, [name], ["tools", name]);
  const known = shop.tools?.find((tool) => tool.name === name)?.effectClass;
  if (known === undefined || effect === undefined || effect === known) return;
  const message = `${name} is of class ${known}, not ${effect}`;
  shop.report.faults.push({ path: ["tools", name, "effect"], message });
}

/** Whether a tool named `final` is the final answer: of class `read`, with `answer` as its only argument. */
function isAnswer({ effectClass, schema }: KnownTool): boolean {
  const properties = schema?.["properties"];
  return effectClass === "read" && isJsonObject(properties) && Object.keys(properties).join() === "answer";
}

/** A rule for a tool that is not in the list of tools never decides. */
function checkListed({ document, report }: CompileContext, rule: PolicyRule, index: number): void {
  if (document.tools === undefined || rule.tool === undefined || rule.verdict === "block") return;
  const listed = Object.keys(document.tools);
  for (const name of patternsOf(rule.tool)) {
    const isThere = name === FINAL || isPattern(name) || listed.some((one) => matchesGlob(one, name));
    if (!isThere)
      report.warnings.push({
        path: ["rules", index, "tool"],
        message: `${rule.id} speaks of ${name}, which is not among the tools that this policy allows`,
      });
  }
}

function checkTools(shop: CompileContext): void {
  const { document, tools, report } = shop;
  for (const [index, rule] of (document.rules ?? []).entries()) {
    checkNames(shop, patternsOf(rule.tool ?? FINAL), ["rules", index, "tool"]);
    checkListed(shop, rule, index);
  }
  for (const [index, { tool }] of (document.risk?.conditions ?? []).entries())
    checkNames(shop, patternsOf(tool ?? FINAL), ["risk", "conditions", index, "tool"]);
  for (const [name, { tool }] of Object.entries(document.totals ?? {}))
    checkNames(shop, patternsOf(tool), ["totals", name, "tool"]);
  for (const [name, terms] of Object.entries(document.tools ?? {})) checkTool(shop, name, terms?.effect);
  if (tools?.some((tool) => tool.name === FINAL && !isAnswer(tool)))
    report.faults.push({
      path: [],
      message: "a tool is named final, which is what a worker's answer is called; rename the tool",
    });
}

function checkRisk(shop: CompileContext): void {
  const { risk } = shop.document;
  if (risk === undefined) return;
  const { medium = 30, high = 60, critical = 90 } = risk.levels ?? {};
  if (!(medium < high && high < critical))
    shop.report.faults.push({
      path: risk.levels === undefined ? ["risk"] : ["risk", "levels"],
      message: `medium ${medium}, high ${high}, critical ${critical}: each level has to be above the one before`,
    });
  for (const [level, outcome] of Object.entries(risk.routes ?? {}))
    checkOutcome(shop, outcome, ["risk", "routes", level]);
  const seen = new Set<string>();
  for (const [index, { id }] of risk.conditions.entries()) {
    if (seen.has(id))
      shop.report.faults.push({
        path: ["risk", "conditions", index, "id"],
        message: `the id ${id} is taken`,
      });
    seen.add(id);
  }
}

function checkUse({ document, used, report }: CompileContext): void {
  for (const name of Object.keys(document.totals ?? {}))
    if (!used.has(name))
      report.warnings.push({ path: ["totals", name], message: `no expression uses totals.${name}` });
}

function checkDefault({ report }: CompileContext, document: PolicyDocument): void {
  if (document.default === undefined)
    report.warnings.push({
      path: [],
      message: "there is no default: what no rule speaks of is blocked. Write default: block to say so",
    });
}

/** Only a supervised run has steps and seconds, so such a policy is for a worker, which gives a final answer. */
function checkFinal({ document, report }: CompileContext): void {
  const { limits, rules = [], default: outcome } = document;
  if (limits?.steps === undefined && limits?.seconds === undefined) return;
  const isNamed = rules.some(({ tool }) => patternsOf(tool).includes(FINAL));
  if (isNamed || outcomeTerms(outcome).verdict === "approve") return;
  const message = `no rule names ${FINAL}: a worker's answer is let through, and default does not speak of it. Write a rule with tool: ${FINAL} to say so, or to look at it`;
  report.warnings.push({ path: ["limits"], message });
}

export function lintDocument(shop: CompileContext): void {
  const { document } = shop;
  checkDefault(shop, document);
  checkFinal(shop);
  checkOutcome(shop, document.default, ["default"]);
  checkIds(shop);
  for (const [index, rule] of (document.rules ?? []).entries()) checkRule(shop, rule, index);
  checkConditionNames(shop);
  checkReach(shop);
  checkTools(shop);
  checkRisk(shop);
  checkUse(shop);
}
