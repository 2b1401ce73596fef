/**
 * How many of what costs much may be under way: for one principal, and in the whole process.
 *
 * L1. Whoever finds no place is refused at once and waits for nobody: a queue would only be a longer stall.
 */
import { HoldpointError } from "../../kernel/errors.ts";

export type Places = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

const AGAIN_SECONDS = 1;

function refuse(what: string): never {
  throw new HoldpointError("rate_limited", what, { details: { retry_after: AGAIN_SECONDS } });
}

export function createPlaces({ each, all }: { readonly each: number; readonly all: number }): Places {
  const taken = new Map<string, number>();
  let sum = 0;

  function move(name: string, by: 1 | -1): void {
    sum += by;
    const own = (taken.get(name) ?? 0) + by;
    if (own === 0) taken.delete(name);
    else taken.set(name, own);
  }

  return async (name, work) => {
    if ((taken.get(name) ?? 0) >= each) refuse(`${each} of these requests are under way for you already.`);
    if (sum >= all) refuse(`${all} of these requests are under way already.`);
    move(name, 1);
    try {
      return await work();
    } finally {
      move(name, -1);
    }
  };
}
