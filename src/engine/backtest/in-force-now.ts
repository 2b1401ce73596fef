/** Which version of a policy an action would be judged by now. */
import type { ListedVersion } from "./kept-policies.ts";

const newest = (versions: readonly ListedVersion[]): ListedVersion | undefined =>
  versions.toSorted((a, b) => a.at - b.at).at(-1);

/** Of those that a program judges by, else of all, the one that was put in force last. */
export function inForceNow(
  versions: readonly ListedVersion[],
): { readonly version: ListedVersion; readonly isUsed: boolean } | undefined {
  const used = newest(versions.filter(({ standing }) => standing === "used"));
  const version = used ?? newest(versions);
  return version === undefined ? undefined : { version, isUsed: used !== undefined };
}
