/** What a card is made of that has to be of one moment: the approval, what it is about, and the list of people. */
import { aboutOf } from "../../core/approval/about.ts";
import { passTime } from "../../core/approval/deadline.ts";
import { withAction } from "../../core/approval/end.ts";
import type { LiveApproval } from "../../core/approval/state.ts";
import type { Move } from "../../core/card/moves.ts";
import { movesOf } from "../../core/card/your-moves.ts";
import { endsByYou, type YourStanding, yourStanding } from "../../core/card/your-standing.ts";
import { type Draft, isNeed, type Need } from "../../core/draft.ts";
import type { RosterState } from "../../core/roster.ts";
import { actionStream, approvalStream, ROSTER, workflowStream } from "../../core/stream.ts";
import type { StateOf } from "../../core/streams.ts";
import { rehearse } from "../rehearse.ts";
import type { Runtime } from "../runtime.ts";
import { unknownApproval } from "../vote.ts";

export type CardFacts = {
  /** As it is recorded. */
  readonly approval: LiveApproval;
  /** With whatever the time that passed has brought about. */
  readonly now: LiveApproval;
  readonly roster: RosterState;
  /** Of an approval about an action. */
  readonly action: StateOf<"action">;
  /** In which it is asked. */
  readonly workflow: StateOf<"workflow">;
  readonly workflowId: string | null;
  readonly you: YourStanding;
  /** Whether it is over once they reject it; null where that is not known. */
  readonly rejectionEnds: boolean | null;
  readonly moves: readonly Move[];
};

const SOMEBODY = "person:somebody";
const ANYBODY: YourStanding = { mayDecide: true, whyNot: null, vote: null };

/** Where nobody is authenticated, it could be anybody. */
const standingOf = (approval: LiveApproval, roster: RosterState, who: string | null): YourStanding =>
  who === null && approval.status === "pending" ? ANYBODY : yourStanding(approval, roster, who ?? SOMEBODY);

const NO_ACTION = { phase: "none" } as const;
const NO_WORKFLOW = { status: "none" } as const;

function workflowIn({ subject }: LiveApproval, action: CardFacts["action"]): string | null {
  if (subject !== undefined) return subject.kind === "intent" ? null : subject.workflow;
  return action.phase === "none" ? null : (action.within?.workflow ?? null);
}

type Looked = { readonly id: string; readonly who: string | null };

function look(draft: Draft, { id, who }: Looked): Need | CardFacts | { readonly status: "none" } {
  const approval = withAction(draft, id);
  if (isNeed(approval) || approval.status === "none") return approval;
  const action = aboutOf(approval).kind === "action" ? draft.state(actionStream(approval.action)) : NO_ACTION;
  const workflowId = workflowIn(approval, action);
  const more = draft.need({ read: [ROSTER, ...(workflowId === null ? [] : [workflowStream(workflowId)])] });
  if (more !== undefined) return more;
  const workflow = workflowId === null ? NO_WORKFLOW : draft.state(workflowStream(workflowId));
  const now = passTime(draft, id);
  const roster = draft.state(ROSTER);
  const you = standingOf(now, roster, who);
  const moves = movesOf(draft, now, who, you);
  if ("kind" in moves) return moves;
  const rejectionEnds = endsByYou(now, roster, who, you);
  return { approval, now, roster, action, workflow, workflowId, you, rejectionEnds, moves };
}

/** `who` looks: null where nobody is authenticated. */
export async function cardFacts(runtime: Runtime, id: string, who: string | null): Promise<CardFacts> {
  const needs = { read: [approvalStream(id), ROSTER] };
  const { answer } = await rehearse(runtime, needs, (draft) => look(draft, { id, who }));
  if ("status" in answer) throw unknownApproval(id);
  return answer;
}
