/** Whom the kill switch is for, and what it says. */

import { visible } from "../kernel/text.ts";
import { agentScope, type Stoppable } from "../kill-switch/stream.ts";
import { type Context, type Flags, flag } from "./command.ts";
import { CommandError } from "./failure.ts";
import { workflowId } from "./resolve-id.ts";
import { ago } from "./times.ts";

const PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"] as const;
const LOOKED_AT = 200;

export const WHOSE: Flags = {
  agent: { value: "<name>", summary: "only this agent, or this service: service:<name>" },
  workflow: { value: "<id>", summary: "only this workflow, with those that it began" },
};

function agentIn(name: string): Stoppable {
  if (!/^(agent:|service:)?[^\s/:][^\p{Cc}]{0,190}$/u.test(name))
    throw new CommandError(
      "usage",
      `"${name}" is not an agent's name.`,
      "Write it as `holdpoint approvals` shows it.",
    );
  return { agent: name.replace(/^agent:/, "") };
}

export async function scopeOf(context: Context): Promise<Stoppable> {
  const [agent, workflow] = [flag(context, "agent"), flag(context, "workflow")];
  if (agent !== undefined && workflow !== undefined)
    throw new CommandError(
      "usage",
      "--agent and --workflow exclude each other.",
      "Stop one, then the other.",
    );
  if (workflow !== undefined) return { workflow: await workflowId(context, workflow) };
  return agent === undefined ? {} : agentIn(agent);
}

export const scopeOnWire = ({ agent, workflow }: Stoppable) => ({
  agent: agent ?? null,
  workflow: workflow ?? null,
});

export function scopeName({ agent, workflow }: Stoppable): string {
  if (workflow !== undefined) return `the workflow ${workflow}`;
  return agent === undefined ? "every agent" : visible(agentScope(agent));
}

/** What `holdpoint go` needs beside the reason, to release the same. */
export function scopeFlags({ agent, workflow }: Stoppable): string {
  if (workflow !== undefined) return ` --workflow ${workflow}`;
  return agent === undefined ? "" : ` --agent '${visible(agent)}'`;
}

/** A mistyped name stops nobody: says so if the name was never seen, as far as one can tell. */
export async function warnIfUnknown({ hp, terminal }: Context, agent: string | undefined): Promise<void> {
  if (agent === undefined) return;
  const lists = await Promise.all(
    PHASES.map((phase) => hp.actions.list({ phase, limit: LOOKED_AT, order: "newest" })),
  );
  const known = new Set(lists.flatMap(({ items }) => items.map((item) => String(item["agent"]))));
  if (known.has(agentScope(agent))) return;
  const names = [...known].map(visible).join(", ");
  terminal.note(
    `Note: no recent action is by ${visible(agentScope(agent))}. Seen lately: ${names || "nobody"}.`,
  );
}

/** For a switch that was in that position already. */
export async function whoStopped({ hp, now }: Context, whose: Stoppable): Promise<string> {
  const state = await hp.stopped(whose);
  return state.stopped
    ? `stopped by ${visible(state.by)}, ${ago(state.at, now)}: ${visible(state.reason)}`
    : "not stopped";
}
