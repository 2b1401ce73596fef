/**
 * Workflows that wait for the kill switch or a budget.
 *
 * O1. Nothing of them is in memory, and none is taken up while what holds it is in the way still: to wait for days adds
 *     nothing to the journal.
 */

import { obstacleOf, roomIn } from "../../core/workflow/held.ts";
import { type StreamRef, streamName, switchStream } from "../../kernel/stream.ts";
import { beginSwitchCheck, wereOffRecently } from "../../kill-switch/methods.ts";
import { checkKillSwitches } from "../../kill-switch/rules.ts";
import { skipUnreadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";

/** So often one looks again at what is held, although nobody has told of anything. */
export const HELD_MS = 30_000;

export const isObstacle = ({ kind }: StreamRef): boolean => kind === "switch" || kind === "budget";

/** The switch that keeps this process, or the agent that it acts for, from beginning anything in a workflow, as a wait names it. */
export async function stoppedBy(
  runtime: Runtime,
  agent: string | undefined,
  workflow: string,
): Promise<string | undefined> {
  const own = await switchOf(runtime, runtime.agent, workflow);
  return own !== undefined || agent === undefined || agent === runtime.agent
    ? own
    : switchOf(runtime, agent, workflow);
}

async function switchOf(runtime: Runtime, agent: string, workflow: string): Promise<string | undefined> {
  const { store, clock } = runtime;
  const place = { store, clock, whose: `${workflow} ${agent}` };
  if (wereOffRecently(place)) return undefined;
  const free = beginSwitchCheck(place);
  const { on } = await runCommand(runtime, {}, (draft) =>
    checkKillSwitches(draft, { agent, within: { workflow } }),
  );
  if (on === undefined) free();
  return on === undefined ? undefined : streamName(switchStream(on.scope));
}

/** When a workflow was last offered for the sake of a budget, and the room that this one had then. */
type Trial = { readonly at: number; readonly room: bigint };

export type HeldLook = {
  /** Of those that were found held at the last look, by workflow and what holds it. */
  tried: ReadonlyMap<string, Trial>;
  /** A switch or a budget has moved since the last look. */
  isDue: boolean;
  waitedMs: number;
};

/** At once: what was freed while nobody was there, nobody tells of. */
export const firstLook = (): HeldLook => ({ tried: new Map(), isDue: true, waitedMs: 0 });

/** Answers whether to look now; the slow look comes by itself. */
export function isTimeToLook(look: HeldLook, passedMs: number): boolean {
  look.waitedMs += passedMs;
  if (!look.isDue && look.waitedMs < HELD_MS) return false;
  look.isDue = false;
  look.waitedMs = 0;
  return true;
}

type Room = bigint | "free" | "unknown";

async function roomAt(runtime: Runtime, on: string): Promise<Room> {
  const ref = obstacleOf(on);
  if (ref === undefined) return "unknown";
  // What cannot be read here is in the way here.
  if (ref.kind === "budget") {
    const budget = await skipUnreadable(readState(runtime, ref));
    return budget === undefined ? 0n : roomIn(budget);
  }
  const found = await skipUnreadable(readState(runtime, ref));
  return found === undefined || found.stopped ? 0n : "free";
}

/** A budget has room, but perhaps not enough: what was tried in vain is tried again when it has more, or after a while. */
function isWorthIt(room: Room, now: number, before: Trial | undefined): boolean {
  if (room === "free" || before === undefined) return room !== 0n;
  if (room === 0n) return false;
  return now - before.at >= HELD_MS || (room !== "unknown" && room > before.room);
}

const micros = (room: Room): bigint => (typeof room === "bigint" ? room : 0n);

export type HeldRow = { readonly id: string; readonly on: readonly string[] };

/** One round over everything that is held: each state is read once. */
export function judge(runtime: Runtime, look: HeldLook) {
  const rooms = new Map<string, Promise<Room>>();
  const tried = new Map<string, Trial>();
  const roomOf = (on: string): Promise<Room> => {
    const known = rooms.get(on) ?? roomAt(runtime, on);
    rooms.set(on, known);
    return known;
  };
  return {
    tried,
    async mayGo({ id, on }: HeldRow): Promise<boolean> {
      let some = false;
      for (const one of on) {
        const name = `${id} ${one}`;
        const [before, room, now] = [look.tried.get(name), await roomOf(one), runtime.clock.now()];
        const goes = isWorthIt(room, now, before);
        tried.set(name, goes || before === undefined ? { at: now, room: micros(room) } : before);
        some ||= goes;
      }
      return some;
    },
  };
}
