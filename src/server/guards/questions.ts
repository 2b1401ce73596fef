/**
 * How many questions one principal may have before people.
 *
 * U1. Beyond it nothing that may ask people is begun for that principal; what it asked before is as it was, and others go on.
 * U2. It is counted anew before anybody is refused, and for a principal at most once a second.
 */
import { HoldpointError } from "../../core/errors.ts";
import { eachRow } from "../../engine/row-pages.ts";
import type { Runtime } from "../../engine/runtime.ts";

export type Questions = {
  /** Throws where the principal has as many as it may. */
  check(runtime: Runtime, principal: string): Promise<void>;
};

const AGAIN_SECONDS = 60;
const COUNTED_MS = 1_000;

function refuse(principal: string, most: number): never {
  throw new HoldpointError("rate_limited", `${principal} has ${most} questions before people already.`, {
    details: { retry_after: AGAIN_SECONDS },
    next: "Wait until people have decided some, or take some back, then ask again; HOLDPOINT_PENDING of the server is how many there may be.",
  });
}

async function countOf(runtime: Runtime, principal: string, most: number): Promise<number> {
  let count = 0;
  for await (const { data } of eachRow(runtime, { view: "approvals", bucket: "pending", order: "newest" })) {
    if (data["agent"] === principal) count += 1;
    if (count >= most) break;
  }
  return count;
}

type Known = { readonly count: number; readonly at: number };

export function createQuestions(most: number): Questions {
  const known = new WeakMap<Runtime, Map<string, Known>>();

  async function counted(runtime: Runtime, principal: string): Promise<Known> {
    const all = known.get(runtime) ?? new Map<string, Known>();
    known.set(runtime, all);
    const now = runtime.clock.now();
    for (const [name, { at }] of all) if (now >= at + COUNTED_MS || now < at) all.delete(name);
    const kept = all.get(principal);
    if (kept !== undefined) return kept;
    const fresh = { count: await countOf(runtime, principal, most), at: now };
    all.set(principal, fresh);
    return fresh;
  }

  return {
    async check(runtime, principal) {
      const { store, tenant } = runtime;
      if ((await store.count(tenant, "approvals", "pending")) < most) return;
      const { count } = await counted(runtime, principal);
      if (count >= most) refuse(principal, most);
    },
  };
}
