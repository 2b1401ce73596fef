import { HoldpointError } from "../../kernel/errors.ts";
import type { MemoryDatabase, MemoryHold } from "./database.ts";

export type EpochHold = {
  release(): Promise<void>;
  leave(): void;
  readonly leaseMs?: number;
  /** With leases: holds on for another `leaseMs`. A hold that lapsed stays lost, since others may have seen it free. */
  renew(): Promise<void>;
};

export function holdEpoch(database: MemoryDatabase, holder: object, id: string): EpochHold {
  if (epochHeld(database, id)) throw new HoldpointError("broken_rule", `The epoch ${id} is held already.`);
  const hold: MemoryHold = { holder, until: leaseEnd(database), isLeft: false };
  database.holds.set(id, hold);
  return {
    ...(database.leaseMs === undefined ? {} : { leaseMs: database.leaseMs }),
    async release() {
      if (database.holds.get(id) === hold) database.holds.delete(id);
    },
    leave() {
      hold.isLeft = true;
    },
    async renew() {
      if (database.holds.get(id) !== hold || !epochHeld(database, id)) {
        throw new HoldpointError("epoch_ended", `The hold on epoch ${id} lapsed.`);
      }
      hold.until = leaseEnd(database);
    },
  };
}

export function epochHeld({ holds, clock }: MemoryDatabase, id: string): boolean {
  const hold = holds.get(id);
  return hold !== undefined && clock.now() < hold.until;
}

/** What was left stays when its process closes, and not when it dies. */
export function dropHolds({ holds }: MemoryDatabase, holder: object, how: "closed" | "crashed"): void {
  for (const [id, hold] of holds)
    if (hold.holder === holder && (how === "crashed" || !hold.isLeft)) holds.delete(id);
}

function leaseEnd({ clock, leaseMs }: MemoryDatabase): number {
  return leaseMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + leaseMs;
}
