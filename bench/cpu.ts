/** Processor time of processes with everything below them, from Linux's /proc; nothing elsewhere. */
import { readdirSync, readFileSync } from "node:fs";

/** The kernel shows its users hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

type Times = { readonly parent: number; readonly ticks: number };

/** Its own time and that of children it has waited for; undefined when it has gone. */
function timesOf(pid: string | number): Times | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in brackets, may hold blanks.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
    return { parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}

export function treeCpu(roots: readonly number[]): number {
  if (process.platform !== "linux" || roots.length === 0) return 0;
  const all = new Map<number, Times>();
  for (const name of readdirSync("/proc")) {
    const times = /^\d+$/.test(name) ? timesOf(name) : undefined;
    if (times !== undefined) all.set(Number(name), times);
  }
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = all.get(at)?.parent)
      if (roots.includes(at)) return true;
    return false;
  };
  return (
    [...all].reduce((sum, [pid, { ticks }]) => (isBelow(pid) ? sum + ticks : sum), 0) * TICK_MICROSECONDS
  );
}
