/**
 * How many questions one principal may have before people.
 *
 * U1. Beyond it nothing that may ask people is begun for that principal; what it asked before is as it was, and others go on.
 * U2. It is counted anew before anybody is refused, and for a principal at most once a second.
 * U3. While all together have asked for less than one may, nobody is counted: within a second, as many go on as there was room
 *     for. Several servers may let one principal have so much more each.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";

export type Questions = {
  /** Whether the principal may have one more, for which it asks hereby. */
  hasRoom(runtime: Runtime, principal: string): Promise<boolean>;
  refuse(principal: string): never;
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
type Room = { left: number; readonly at: number };

const isFresh = ({ at }: Pick<Known, "at">, now: number): boolean => now >= at && now < at + COUNTED_MS;

export function createQuestions(most: number): Questions {
  const known = new WeakMap<Runtime, Map<string, Known>>();
  const rooms = new WeakMap<Runtime, Room>();

  async function counted(runtime: Runtime, principal: string): Promise<Known> {
    const all = known.get(runtime) ?? new Map<string, Known>();
    known.set(runtime, all);
    const now = runtime.clock.now();
    for (const [name, kept] of all) if (!isFresh(kept, now)) all.delete(name);
    const kept = all.get(principal);
    if (kept !== undefined) return kept;
    const fresh = { count: await countOf(runtime, principal, most), at: now };
    all.set(principal, fresh);
    return fresh;
  }

  async function roomOf(runtime: Runtime): Promise<Room> {
    const now = runtime.clock.now();
    const kept = rooms.get(runtime);
    if (kept !== undefined && kept.left > 0 && isFresh(kept, now)) return kept;
    const pending = await runtime.store.count(runtime.tenant, "approvals", "pending");
    const fresh = { left: most - pending, at: now };
    rooms.set(runtime, fresh);
    return fresh;
  }

  return {
    async hasRoom(runtime, principal) {
      const room = await roomOf(runtime);
      if (room.left-- > 0) return true;
      return (await counted(runtime, principal)).count < most;
    },
    refuse: (principal) => refuse(principal, most),
  };
}
