/** Versions by policy, newest first; policies that somebody judges by stand first. */
import type { Version } from "./policy-queries.ts";

export type PolicyGroup = {
  readonly name: string;
  readonly versions: readonly Version[];
  readonly isUsed: boolean;
};

const newestFirst = (one: Version, other: Version): number => other.at.localeCompare(one.at);

export function policyGroups(versions: readonly Version[]): readonly PolicyGroup[] {
  const names = [...new Set(versions.map(({ name }) => name))].toSorted();
  const groups = names.map((name) => {
    const own = versions.filter((version) => version.name === name).toSorted(newestFirst);
    return { name, versions: own, isUsed: own.some(({ standing }) => standing === "used") };
  });
  return groups.toSorted((one, other) => Number(other.isUsed) - Number(one.isUsed));
}

/** What is opened where the address names none: a version in force, or the newest that there is. */
export function firstVersion(groups: readonly PolicyGroup[]): Version | undefined {
  const all = groups.flatMap(({ versions }) => versions);
  return all.find(({ standing }) => standing === "used") ?? all[0];
}

/** The other texts that the policy had, each once, newest first. */
export function otherTexts(groups: readonly PolicyGroup[], version: Version): readonly Version[] {
  const own = groups.find(({ name }) => name === version.name)?.versions ?? [];
  const isFirst = ({ digest }: Version, at: number) => own.findIndex((one) => one.digest === digest) === at;
  return own.filter((one, at) => one.digest !== version.digest && isFirst(one, at));
}

export const shortDigest = (digest: string): string => digest.slice(0, 10);
