/** Whom the kill switch is for, and what it says. */

import { visible } from "../core/visible.ts";
import type { Context } from "./command.ts";
import { flag } from "./command.ts";
import { CommandError } from "./failure.ts";
import { ago } from "./times.ts";

const PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"] as const;
const LOOKED_AT = 200;

export function scopeOf(context: Context): { readonly agent?: string } {
  const agent = flag(context, "agent");
  if (agent === undefined) return {};
  if (!/^(agent:)?[^\s/:][^\p{Cc}]{0,190}$/u.test(agent))
    throw new CommandError(
      "usage",
      `"${agent}" is not an agent's name.`,
      "Write it as `holdpoint approvals` shows it.",
    );
  return { agent: agent.replace(/^agent:/, "") };
}

export const scopeName = ({ agent }: { readonly agent?: string }): string =>
  agent === undefined ? "every agent" : `agent:${visible(agent)}`;

/** A mistyped name stops nobody: says so if the name was never seen, as far as one can tell. */
export async function warnIfUnknown({ hp, terminal }: Context, agent: string | undefined): Promise<void> {
  if (agent === undefined) return;
  const lists = await Promise.all(
    PHASES.map((phase) => hp.actions.list({ phase, limit: LOOKED_AT, order: "newest" })),
  );
  const known = new Set(lists.flatMap(({ items }) => items.map((item) => String(item["agent"]))));
  if (known.has(`agent:${agent}`)) return;
  const names = [...known].map(visible).join(", ");
  terminal.note(`Note: no recent action is by agent:${visible(agent)}. Seen lately: ${names || "nobody"}.`);
}

/** For a switch that was in that position already. */
export async function whoStopped({ hp, now }: Context, agent?: string): Promise<string> {
  const state = await hp.stopped(agent);
  return state.stopped
    ? `stopped by ${visible(state.by)}, ${ago(state.at, now)}: ${visible(state.reason)}`
    : "not stopped";
}
