/** What holds something up that a workflow waits with: the stream that has to move before it can go on. */

import type { BudgetStreamState } from "../../budgets/stream.ts";
import type { Refusal } from "../../kernel/refusals.ts";
import {
  budgetStream,
  parseStreamRef,
  type StreamRef,
  streamName,
  switchStream,
} from "../../kernel/stream.ts";

type Obstacle = StreamRef<"switch"> | StreamRef<"budget">;

/** As a wait names it: `switch/tenant`, `budget/trip`. Whoever refuses says who they are in words. */
export function heldOn({ by }: Pick<Refusal, "by">): string {
  const scope = /^kill switch \((.+)\)$/.exec(by)?.[1];
  if (scope !== undefined) return streamName(switchStream(scope));
  const budget = /^budget (.+)$/.exec(by)?.[1];
  return budget === undefined ? by : streamName(budgetStream(budget));
}

/** undefined: something that cannot be looked at from here. */
export function obstacleOf(on: string): Obstacle | undefined {
  return /^(switch|budget)\/./.test(on) ? (parseStreamRef(on) as Obstacle) : undefined;
}

/** What may still be reserved; 0 where nothing may. */
export function roomIn({ limit, spent, reserved }: BudgetStreamState): bigint {
  const left = limit === null ? 0n : limit.micros - spent - reserved;
  return left > 0n ? left : 0n;
}
