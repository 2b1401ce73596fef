/** Whether a workflow has been past a place of its definition before: something recorded comes after it there. */
import type { Branch } from "./operation.ts";
import type { Run } from "./run.ts";

const branchOf = (key: string): string => key.slice(0, key.lastIndexOf("/", key.lastIndexOf("#")));

/** A branch within this one, which this one has not begun yet. */
function isStillToBegin({ path, counts }: Branch, inner: string): boolean {
  const start = path === "" ? "" : `${path}.`;
  const begun = counts.get("parallel") ?? 0;
  return inner.startsWith(start) && Number(/^parallel-(\d+)\./.exec(inner.slice(start.length))?.[1]) > begun;
}

/** Those around a branch wait for its end: what they did after it is after everything in it. */
const isAround = (outer: string, path: string): boolean => outer === "" || `${path}.`.startsWith(`${outer}.`);

/** Branches beside this one say nothing of it, and neither do logs, which may come and go. */
export function isPast(run: Run, branch: Branch): boolean {
  for (const { key, kind } of run.table.ops.values()) {
    if (kind === "log" || run.claimed.has(key)) continue;
    const other = branchOf(key);
    if (isAround(other, branch.path) || isStillToBegin(branch, other)) return true;
  }
  return false;
}
