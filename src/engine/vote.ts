/** A person's decision on an approval, brought to the rules with whatever this process knows of the tool. */
import type { LiveApproval } from "../core/approval/state.ts";
import { type VoteAnswer, type VoteCommand, vote } from "../core/approval/vote.ts";
import { HoldpointError } from "../core/errors.ts";
import { refusalData } from "../core/refusals.ts";
import { actionStream, approvalStream, ROSTER, type StreamRef } from "../core/stream.ts";
import type { Needs } from "../core/transaction.ts";
import { loaderOf } from "./load.ts";
import { executorOf } from "./move.ts";
import { toolOf } from "./outside/outside-tool.ts";
import { readState } from "./read-state.ts";
import { runLoading } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";
import type { Tool } from "./tool.ts";

export type Ballot = Omit<VoteCommand, "executor">;
type Decided = Extract<VoteAnswer, { approval: string }>;

/** Only an edit needs the tool; a plain vote is the same in every process. */
export async function toolFor(
  runtime: Runtime,
  ballot: Pick<Ballot, "approval" | "edit">,
): Promise<Tool | null> {
  if (ballot.edit === undefined) return null;
  const approval = await readState(runtime, approvalStream(ballot.approval));
  if (approval.status === "none") return null;
  const tool = runtime.tools.get(approval.tool) ?? (await undeclared(runtime, approval));
  if (tool === undefined || tool.rules.schemaDigest !== approval.schema) return null;
  return (await isGoverned(runtime, approval, tool)) ? null : tool;
}

/** What an agent performs itself needs no declaration: whoever decides can review an edit of it. */
async function undeclared(runtime: Runtime, { action }: LiveApproval): Promise<Tool | undefined> {
  const state = await readState(runtime, actionStream(action));
  return state.phase !== "none" && state.outside === true ? toolOf(runtime, state) : undefined;
}

/** Its workflow has rules of its own over the tool: whoever runs it reviews the edit, under all of them. */
async function isGoverned(
  runtime: Runtime,
  { action, policy }: Pick<LiveApproval, "action" | "policy">,
  { rules }: Tool,
): Promise<boolean> {
  if (rules.policyDigest === policy) return false;
  const state = await readState(runtime, actionStream(action));
  return state.phase !== "none" && state.within !== undefined;
}

/** What the rules will ask for in any case: declared at once, it spares them a second and third round. */
function foreseen({ approval }: Ballot, about: StreamRef | undefined): Needs {
  const known = about === undefined ? [] : [about];
  return { write: [approvalStream(approval), ...known], read: [ROSTER] };
}

export type RefusedVote = Extract<VoteAnswer, { kind: "vote_refused" }>;

/** `isTried`: it was not cast, and nothing is recorded. */
export function refusedVote(
  ballot: Pick<Ballot, "approval">,
  answer: RefusedVote,
  isTried = false,
): HoldpointError {
  const what = `The decision on ${ballot.approval} ${isTried ? "would be" : "was"} refused: ${answer.reason}.`;
  const unrecorded = isTried
    ? "Nothing was written."
    : refusalData("decision", false, "the approval did not change");
  const recorded =
    answer.code === "secret_transformed"
      ? { data: refusalData("decision", true, "the approval did not change") }
      : {};
  return new HoldpointError(answer.code, what, {
    ...(answer.isRecorded && !isTried ? recorded : { data: unrecorded }),
    details: { approval: ballot.approval, status: answer.status },
  });
}

export const unknownApproval = (id: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no approval ${id}.`);

/** `about`: what the approval is about, where it is known. Answers what was decided; a refused vote is recorded and then thrown. */
export async function castVote(runtime: Runtime, ballot: Ballot, about?: StreamRef): Promise<Decided> {
  const tool = await toolFor(runtime, ballot);
  const executor = tool === null ? null : await executorOf(runtime, tool);
  await runtime.reach("before_vote");
  const answer: VoteAnswer = await runLoading(
    runtime,
    foreseen(ballot, about),
    (draft, loaded) =>
      vote(draft, { ...ballot, executor: executor === null ? null : { ...executor, loaded } }),
    loaderOf(runtime, tool),
  );
  await runtime.reach("after_vote");
  if (answer.kind === "unknown") throw unknownApproval(ballot.approval);
  if (answer.kind === "vote_refused") throw refusedVote(ballot, answer);
  return answer;
}
