/** What a process holds on to, and whether that grows. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export type Sample = {
  readonly seconds: number;
  readonly heapMb: number;
  /** Buffers and what native code holds for JavaScript. */
  readonly externalMb: number;
  readonly rssMb: number;
};

const MB = 1024 * 1024;

function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
const collect = collector();

/** After everything that nobody holds was thrown away. */
export async function sampleMemory(seconds: number): Promise<Sample> {
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { seconds, heapMb: heapUsed / MB, externalMb: external / MB, rssMb: rss / MB };
}

/** Least squares, in megabytes in ten minutes. */
export function slopeOf(samples: readonly Sample[], what: (sample: Sample) => number): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const middle = mean(samples.map(({ seconds }) => seconds));
  const level = mean(samples.map(what));
  let above = 0;
  let below = 0;
  for (const sample of samples) {
    above += (sample.seconds - middle) * (what(sample) - level);
    below += (sample.seconds - middle) ** 2;
  }
  return below === 0 ? Number.NaN : (above / below) * 600;
}
