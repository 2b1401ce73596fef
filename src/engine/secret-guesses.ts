/**
 * How often somebody may hear that a secret's value stands in what they wrote: heard without end, it would find the secret.
 *
 * G1. After so many in a minute, whatever they write of that approval is refused, with a secret in it or without.
 * G2. It is counted in this process, for as long as it runs.
 */
import { HoldpointError, isHoldpointError } from "../core/errors.ts";
import type { Runtime } from "./runtime.ts";

const MOST = 10;
const WITHIN_MS = 60_000;

type Heard = { readonly since: number; readonly times: number };
type Guesser = { readonly approval: string; readonly by: string };

const heard = new WeakMap<Runtime, Map<string, Heard>>();

function heardBy(runtime: Runtime, now: number): Map<string, Heard> {
  const all = heard.get(runtime) ?? new Map<string, Heard>();
  heard.set(runtime, all);
  for (const [name, { since }] of all) if (now - since >= WITHIN_MS) all.delete(name);
  return all;
}

function refuse({ since }: Heard, now: number): never {
  const wait = Math.max(1, Math.ceil((since + WITHIN_MS - now) / 1_000));
  const what = `A secret's value stood in ${MOST} edits of this approval within a minute.`;
  throw new HoldpointError("rate_limited", what, { details: { retry_after: wait } });
}

export async function guessing<Result>(
  runtime: Runtime,
  { approval, by }: Guesser,
  judge: () => Promise<Result>,
): Promise<Result> {
  const now = runtime.clock.elapsed?.() ?? runtime.clock.now();
  const all = heardBy(runtime, now);
  const name = `${approval} ${by}`;
  const before = all.get(name);
  if (before !== undefined && before.times >= MOST) refuse(before, now);
  try {
    return await judge();
  } catch (error) {
    if (isHoldpointError(error, "secret_transformed")) {
      const counted = all.get(name) ?? { since: now, times: 0 };
      all.set(name, { ...counted, times: counted.times + 1 });
    }
    throw error;
  }
}
