/** Commands `pause` and `resume`, and the scope of a kill switch: all agents, one agent or one workflow. */

import { agentScope } from "../kernel/stream.ts";
import { visible } from "../kernel/text.ts";
import type { Stoppable } from "../kill-switch/stream.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  type Flags,
  flag,
  needed,
  REASON,
} from "./shell/command.ts";
import { resolveWorkflowId } from "./shell/resolve-id.ts";
import { formatAgo } from "./shell/terminal.ts";

const ALL_PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"] as const;
const LOOKED_AT = 200;

const SCOPE_FLAGS: Flags = {
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

async function readScope(context: Context): Promise<Stoppable> {
  const [agent, workflow] = [flag(context, "agent"), flag(context, "workflow")];
  if (agent !== undefined && workflow !== undefined)
    throw new CommandError(
      "usage",
      "--agent and --workflow exclude each other.",
      "Pause one, then the other.",
    );
  if (workflow !== undefined) return { workflow: await resolveWorkflowId(context, workflow) };
  return agent === undefined ? {} : agentIn(agent);
}

function scopeName({ agent, workflow }: Stoppable): string {
  if (workflow !== undefined) return `the workflow ${workflow}`;
  return agent === undefined ? "every agent" : visible(agentScope(agent));
}

/** Flags for `holdpoint resume`, in addition to the reason, to release the same scope. */
function scopeFlags({ agent, workflow }: Stoppable): string {
  if (workflow !== undefined) return ` --workflow ${workflow}`;
  return agent === undefined ? "" : ` --agent '${visible(agent)}'`;
}

/** A mistyped name stops no agent: warns if the name was not found among recent actions. */
async function warnIfUnknown({ hp, terminal }: Context, agent: string | undefined): Promise<void> {
  if (agent === undefined) return;
  const lists = await Promise.all(ALL_PHASES.map((phase) => hp.actions.list({ phase, limit: LOOKED_AT })));
  const known = new Set(lists.flatMap(({ items }) => items.map((item) => item.agent)));
  if (known.has(agentScope(agent))) return;
  const names = [...known].map(visible).join(", ");
  terminal.note(
    `Note: no recent action is by ${visible(agentScope(agent))}. Seen lately: ${names || "nobody"}.`,
  );
}

/** For a switch that was already in that position. */
export async function whoPaused({ hp, now }: Context, whose: Stoppable): Promise<string> {
  const state = await hp.paused(whose);
  return state.paused
    ? `paused by ${visible(state.by)}, ${formatAgo(state.at, now)}: ${visible(state.reason)}`
    : "not paused";
}

async function turn(context: Context, paused: boolean): Promise<boolean> {
  const { hp, terminal, person: by } = context;
  const scope = await readScope(context);
  const changed = await hp[paused ? "pause" : "resume"]({ by, reason: needed(context, "reason"), ...scope });
  if (paused || !changed) await warnIfUnknown(context, scope.agent);
  const { agent = null, workflow = null } = scope;
  if (context.json) terminal.json({ paused, changed, agent, workflow });
  else terminal.line(changed ? doneText(scope, paused) : await unchangedText(context, scope, paused));
  return scope.agent !== undefined || scope.workflow !== undefined;
}

const doneText = (scope: Stoppable, paused: boolean): string =>
  paused
    ? `Paused: ${scopeName(scope)} starts nothing new until \`holdpoint resume${scopeFlags(scope)}\`.`
    : `Resumed: ${scopeName(scope)} may start effects again.`;

async function unchangedText(context: Context, scope: Stoppable, paused: boolean): Promise<string> {
  return `Nothing changed: it ${paused ? `is ${await whoPaused(context, scope)}` : "was not paused"}.`;
}

export const pauseCommand: Command = {
  name: "pause",
  words: [],
  summary: "Kill switch: stop new effects of all, an agent or a workflow",
  details: [
    "Effects that run already are not interrupted. Calls are told so and may come back after `holdpoint resume`.",
  ],
  examples: ['holdpoint pause --reason "wrong prices"', 'holdpoint pause --agent refunds --reason "drill"'],
  flags: { ...SCOPE_FLAGS, reason: REASON },
  async run(context) {
    await turn(context, true);
    return EXIT.ok;
  },
};

export const resumeCommand: Command = {
  name: "resume",
  words: [],
  summary: "Turn the kill switch off",
  examples: ['holdpoint resume --reason "prices corrected"'],
  flags: { ...SCOPE_FLAGS, reason: REASON },
  async run(context) {
    const isPart = await turn(context, false);
    if (isPart && !context.json && (await context.hp.paused()).paused)
      context.terminal.line("But the switch for everybody is on: `holdpoint resume` alone turns it off.");
    return EXIT.ok;
  },
};
