/**
 * Work beside the calls. Every tool has a lane of its own with room for so many at a time: what hangs in one lane holds
 * up nobody in another. What fails is told about once, not every round.
 */
import { errorText } from "../kernel/text.ts";

export type Lanes = {
  /** Runs the work when its lane has room, unless it is queued or under way by that name already. Never rejects. */
  run(lane: string, name: string, work: () => Promise<void>): Promise<void>;
  /** Resolves when nothing is queued or under way. */
  rest(): Promise<void>;
};

type Lane = { running: number; told: string; readonly waiting: (() => void)[] };

export function createLanes(width: number, closing: AbortSignal, tell: (error: unknown) => void): Lanes {
  const lanes = new Map<string, Lane>();
  const jobs = new Map<string, Promise<void>>();

  function laneOf(name: string): Lane {
    const lane = lanes.get(name) ?? { running: 0, told: "", waiting: [] };
    lanes.set(name, lane);
    return lane;
  }

  async function inTurn(lane: Lane, work: () => Promise<void>): Promise<void> {
    if (lane.running < width) lane.running++;
    else await new Promise<void>((resolve) => lane.waiting.push(resolve));
    try {
      if (!closing.aborted) await work();
      lane.told = "";
    } catch (error) {
      const said = errorText(error);
      if (!closing.aborted && lane.told !== said) tell(error);
      lane.told = said;
    } finally {
      const next = lane.waiting.shift();
      if (next === undefined) lane.running--;
      else next();
    }
  }

  return {
    run(lane, name, work) {
      const known = jobs.get(name);
      if (known !== undefined) return known;
      const job = inTurn(laneOf(lane), work).finally(() => jobs.delete(name));
      jobs.set(name, job);
      return job;
    },
    async rest() {
      await Promise.all(jobs.values());
    },
  };
}
