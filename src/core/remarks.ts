/**
 * What policies add to what they say, where several were asked: nothing is lost because another one is the stricter.
 * The highest risk is the verdict's; all of them stand beside it where there is more than one.
 */
import { canonicalJson } from "../kernel/canonical-json.ts";
import { isJsonObject } from "../kernel/json.ts";

import { type Remarks, RISK_LEVELS, type Risk, type Verdict } from "./verdict.ts";

/** The same said twice is said once: one of two verdicts may come of both already. */
function distinct<Part>(parts: readonly Part[]): readonly Part[] {
  if (parts.length < 2) return parts;
  return [...new Map(parts.map((part) => [canonicalJson(part), part])).values()];
}

const listOf = <Part>(list: readonly Part[] | undefined, one?: Part): readonly Part[] =>
  list ?? (one === undefined ? [] : [one]);

const levelOf = ({ level }: Risk): number => RISK_LEVELS.indexOf(level);

function higher(one: Risk, other: Risk): Risk {
  if (levelOf(one) !== levelOf(other)) return levelOf(one) > levelOf(other) ? one : other;
  return other.score > one.score ? other : one;
}

/** A policy in code may answer anything: what is not as it should be is passed on, and the review blocks it. */
function highest(risks: readonly Risk[]): Risk | undefined {
  const wrong = risks.find((risk) => !isJsonObject(risk));
  return (
    wrong ??
    risks.reduce<Risk | undefined>((top, risk) => (top === undefined ? risk : higher(top, risk)), undefined)
  );
}

export function remarksOf(...said: readonly Verdict[]): Pick<Remarks, "risk" | "risks" | "shadow"> {
  const risks = distinct(said.flatMap(({ risks: several, risk }) => listOf(several, risk)));
  const shadow = distinct(said.flatMap(({ shadow: some }) => listOf(some)));
  const risk = highest(risks);
  return {
    ...(risk === undefined ? {} : { risk }),
    ...(risks.length < 2 ? {} : { risks }),
    ...(shadow.length === 0 ? {} : { shadow }),
  };
}

const isSilent = ({ risk, risks, shadow }: Verdict): boolean =>
  risk === undefined && risks === undefined && shadow === undefined;

/** One that holds, with what the other remarked. */
export function remarking<Said extends Verdict>(verdict: Said, other: Verdict): Said {
  return isSilent(other) ? verdict : { ...verdict, ...remarksOf(verdict, other) };
}

/** Whose words they are: the document with this digest. */
export function inTheNameOf(document: string, verdict: Verdict): Verdict {
  const { risk, shadow } = verdict;
  if (risk === undefined && shadow === undefined) return verdict;
  return {
    ...verdict,
    ...(risk === undefined ? {} : { risk: { ...risk, document } }),
    ...(shadow === undefined ? {} : { shadow: shadow.map((one) => ({ ...one, document })) }),
  };
}
