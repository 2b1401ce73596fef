/**
 * Requests that wait here for something to happen.
 *
 * H1. Each takes a place, of its principal's, of its tenant's and of all; where there is none it is refused before it waits.
 * H2. It ends with its connection: nothing is waited for that nobody would be told.
 * H3. When the server stops, each is answered as things stand, so that whoever waits goes on elsewhere.
 */
import { HoldpointError } from "../../core/errors.ts";
import type { Hold } from "../../engine/hold.ts";
import type { Asked } from "../route.ts";

export type Holds = {
  /** How many wait now. */
  size(): number;
  /** One that would not wait takes no place. */
  during<Answer>(asked: Holding, seconds: number, wait: (hold: Hold) => Promise<Answer>): Promise<Answer>;
};

type Holding = Pick<Asked, "tenant" | "gone"> & {
  readonly who: Pick<Asked["who"], "principal" | "credential">;
};

export type HoldLimits = {
  /** Of one principal; of an address where nobody is authenticated. */
  readonly each: number;
  readonly all: number;
  /** How many tenants there are: where there are several, none takes more than half of all. One unless set. */
  readonly tenants?: () => number;
};

const AGAIN_SECONDS = 5;

function refuse(code: "rate_limited" | "server_busy", what: string): never {
  throw new HoldpointError(code, what, { details: { retry_after: AGAIN_SECONDS } });
}

export function createHolds({ each, all, tenants = () => 1 }: HoldLimits, over: AbortSignal): Holds {
  const places = new Map<string, number>();
  const byTenant = new Map<string, number>();
  let size = 0;

  const add = (counts: Map<string, number>, name: string, count: number) => {
    const left = (counts.get(name) ?? 0) + count;
    if (left > 0) counts.set(name, left);
    else counts.delete(name);
  };

  function take(tenant: string, name: string): void {
    const own = places.get(name) ?? 0;
    if (own >= each) refuse("rate_limited", `There are ${own} requests of this principal that wait already.`);
    if (size >= all) refuse("server_busy", "As many requests wait here as the server takes.");
    const share = tenants() > 1 ? Math.ceil(all / 2) : all;
    if ((byTenant.get(tenant) ?? 0) >= share)
      refuse("server_busy", "As many requests of this tenant wait here as the server takes of one.");
    add(places, name, 1);
    add(byTenant, tenant, 1);
    size += 1;
  }

  function giveBack(tenant: string, name: string): void {
    add(places, name, -1);
    add(byTenant, tenant, -1);
    size -= 1;
  }

  return {
    size: () => size,
    async during({ tenant, who, gone }, seconds, wait) {
      if (seconds <= 0) return wait({ holdMs: 0, signal: over });
      const name = `${tenant} ${who.principal ?? who.credential}`;
      take(tenant, name);
      try {
        return await wait({ holdMs: seconds * 1_000, signal: AbortSignal.any([over, gone()]) });
      } finally {
        giveBack(tenant, name);
      }
    },
  };
}
