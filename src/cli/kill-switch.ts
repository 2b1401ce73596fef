/** Commands `pause` and `resume`, and the scope of a kill switch: all agents, one agent or one workflow. */

import { agentScope } from "../kernel/stream.ts";
import { visible } from "../kernel/text.ts";
import type { Stoppable } from "../kill-switch/stream.ts";
import { type Command, type Context, EXIT, type Flags, flag, needed, REASON } from "./shell/command.ts";
import { CommandError } from "./shell/failure.ts";
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

const scopeOnWire = ({ agent, workflow }: Stoppable) => ({
  agent: agent ?? null,
  workflow: workflow ?? null,
});

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
    const { hp, terminal, person: by } = context;
    const scope = await readScope(context);
    const changed = await hp.pause({ by, reason: needed(context, "reason"), ...scope });
    await warnIfUnknown(context, scope.agent);
    if (context.json) terminal.json({ paused: true, changed, ...scopeOnWire(scope) });
    else if (changed)
      terminal.line(
        `Paused: ${scopeName(scope)} starts nothing new until \`holdpoint resume${scopeFlags(scope)}\`.`,
      );
    else terminal.line(`Nothing changed: it is ${await whoPaused(context, scope)}.`);
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
    const { hp, terminal, person: by } = context;
    const scope = await readScope(context);
    const changed = await hp.resume({ by, reason: needed(context, "reason"), ...scope });
    if (!changed) await warnIfUnknown(context, scope.agent);
    if (context.json) terminal.json({ paused: false, changed, ...scopeOnWire(scope) });
    else if (changed) terminal.line(`Resumed: ${scopeName(scope)} may start effects again.`);
    else terminal.line("Nothing changed: it was not paused.");
    const isOne = scope.agent !== undefined || scope.workflow !== undefined;
    const whole = isOne ? await hp.paused() : undefined;
    if (whole?.paused === true && !context.json)
      terminal.line("But the switch for everybody is on: `holdpoint resume` alone turns it off.");
    return EXIT.ok;
  },
};
