/**
 * An agent proposes what it wants to perform itself, and gets a verdict, a question that people decide, or a permit.
 *
 * P1. The same request id with the same action gets the original answer, whatever became of it; where people have agreed
 *     meanwhile, that is the permit.
 * P2. Only the agent that proposed it takes it up.
 */
import type { Advanced } from "../../core/action/advance.ts";
import type { Proposed } from "../../core/action/propose.ts";
import type { LiveAction } from "../../core/action/state.ts";
import { digestOf } from "../../core/digest.ts";
import { HoldpointError } from "../../core/errors.ts";
import { actionStream } from "../../core/stream.ts";
import type { Placement } from "../../core/workflow/call.ts";
import { checkFields, wrong } from "../check-call.ts";
import { conflict, takeUpAction, underWay } from "../execute.ts";
import { argsFor, checkOptions, proposeCall } from "../gate.ts";
import { move, type Source } from "../move.ts";
import { plainJson } from "../prepare-args.ts";
import { readState } from "../read-state.ts";
import { freshId, type Runtime } from "../runtime.ts";
import { redactText } from "../secrets.ts";
import type { Tool } from "../tool.ts";
import { answerOfCall, type OutsideAnswer, outsideAnswer } from "./answer.ts";
import { checkAction, checkPrincipal, notYours, requesterOf } from "./check-outside.ts";
import { toolNamed } from "./outside-tool.ts";

export type OutsideProposal = {
  /** The tool's name. */
  readonly tool: string;
  readonly args?: unknown;
  /** The identity of this action: asking again with it answers the original, for ever. */
  readonly requestId?: string;
  /** What the agent says about it: shown to approvers as its words. */
  readonly says?: string;
  /** Who asks: from a credential, where there is one. */
  readonly agent: string;
  /** Whom the agent acts for: they cannot decide about it. */
  readonly requester?: readonly string[];
};

export const PROPOSAL_FIELDS = ["tool", "args", "requestId", "says", "agent", "requester"] as const;

export type Asking = {
  readonly tool: Tool;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  readonly says: string | null;
  readonly placement?: Placement;
};

/** Checked, with the tool found. */
export function askingOf(runtime: Runtime, given: OutsideProposal): Asking {
  const { agent, requestId, says } = given;
  const options = { ...(requestId == null ? {} : { requestId }), ...(says == null ? {} : { says }) };
  checkOptions(options);
  checkPrincipal("The agent", agent);
  if (typeof given.tool !== "string") wrong("A proposal names a tool.");
  return {
    tool: toolNamed(runtime, given.tool),
    agent,
    requester: requesterOf(agent, given.requester),
    requestId: requestId ?? null,
    says: says ?? null,
  };
}

/** Until it has an answer: an edit that was reviewed, or a move of somebody else, is looked at again. */
async function follow(runtime: Runtime, tool: Tool, action: string): Promise<OutsideAnswer> {
  for (;;) {
    const moved = await step(runtime, tool, { action, approval: null }, null);
    const answer = moved.kind === "new" ? await outsideAnswer(runtime, action, moved.answer) : undefined;
    if (answer !== undefined) return answer;
  }
}

function step(runtime: Runtime, tool: Tool, source: Source, digest: string | null): Promise<Proposed> {
  return underWay(runtime, () => move(runtime, tool, source, digest));
}

function tellWaiting(runtime: Runtime, action: string, tool: Tool, answer: Advanced): void {
  if (answer.kind !== "waiting") return;
  const { approval, decideBy } = answer;
  runtime.notify({ kind: "waiting", action, approval, tool: tool.rules.name, decideBy });
}

const TURNED: Advanced = { kind: "turned" };

/** `args` are those of the caller, copied. */
export async function proposeAsked(
  runtime: Runtime,
  asking: Asking,
  given: ReturnType<typeof plainJson>,
): Promise<OutsideAnswer> {
  const { tool, requestId, says: words, ...who } = asking;
  if (tool.outside === undefined) {
    const options = { ...who, requestId, waitMs: 0, ...(words === null ? {} : { says: words }) };
    return answerOfCall(runtime, await proposeCall(runtime, tool, given, options));
  }
  const { args, known } = await argsFor(runtime, tool, given, requestId);
  const says = words === null ? null : redactText(words, known);
  const action = freshId(runtime, "act");
  const proposal = { ...who, action, requestId, says, args, givenDigest: digestOf(given) };
  const proposed = await step(runtime, tool, { proposal }, digestOf(args));
  if (proposed.kind === "conflict") throw conflict(requestId, proposed.action);
  if (proposed.kind === "existing") return follow(runtime, tool, proposed.action);
  const answer = proposed.kind === "turned" ? TURNED : proposed.answer;
  tellWaiting(runtime, action, tool, answer);
  return (await outsideAnswer(runtime, action, answer)) ?? follow(runtime, tool, action);
}

export async function proposeOutside(runtime: Runtime, given: OutsideProposal): Promise<OutsideAnswer> {
  const checked = checkFields("A proposal", given, PROPOSAL_FIELDS);
  const plain = plainJson(checked.args);
  return proposeAsked(runtime, askingOf(runtime, checked), plain);
}

/** The action, if it is this agent's. */
export async function ownAction(runtime: Runtime, action: string, agent: string): Promise<LiveAction> {
  checkPrincipal("The agent", agent);
  const state = await readState(runtime, actionStream(checkAction(action)));
  if (state.phase === "none") throw new HoldpointError("unknown_id", `There is no action ${action}.`);
  if (state.agent !== agent) throw notYours(`The action ${action}`, agent);
  return state;
}

/** The same by the action's id: the agent comes back to what it proposed. */
export async function takeUp(runtime: Runtime, action: string, agent: string): Promise<OutsideAnswer> {
  const state = await ownAction(runtime, action, agent);
  const tool = toolNamed(runtime, state.tool);
  if (state.outside === true) return follow(runtime, outwardly(tool, state), action);
  return answerOfCall(runtime, await takeUpAction(runtime, tool, action));
}

/** A program that has since got a function for it does not perform what an agent was to perform. */
function outwardly(tool: Tool, { tool: name }: LiveAction): Tool {
  if (tool.outside !== undefined) return tool;
  throw new HoldpointError("tool_conflict", `"${name}" is performed by this program by now.`, {
    data: "Nothing was written; the action is as it was.",
    next: "Propose it again under a new request id.",
  });
}
