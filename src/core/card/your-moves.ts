/**
 * What whoever looks at a card could do with it now. It is no rule: each of them is decided by its own, when it is done, and a test
 * holds the two together.
 */
import { mayComment } from "../approval/comment.ts";
import { mayHandOver, maySitAgain } from "../approval/delegate.ts";
import { isGiven } from "../approval/end.ts";
import { mayExtend } from "../approval/extend.ts";
import type { LiveApproval } from "../approval/state.ts";
import { mayTakeBack } from "../approval/take-back.ts";
import type { Draft, Need } from "../draft.ts";
import { isJsonObject } from "../json.ts";
import { isPerson } from "../principal.ts";
import { ROSTER } from "../stream.ts";
import { raisedName } from "../workflow/raise.ts";
import { MOVES, type Move } from "./moves.ts";
import type { YourStanding } from "./your-standing.ts";

/** A question has its answer instead; what a monitor raises has nothing in it, and neither has what captured nothing. */
export function isEditable({ subject, args }: Pick<LiveApproval, "subject" | "args">): boolean {
  if (subject === undefined) return true;
  const isEmpty = isJsonObject(args) && Object.keys(args).length === 0;
  return subject.kind === "checkpoint" && raisedName(subject.op) === undefined && !isEmpty;
}

type Can = { readonly [move in Move]: boolean };

/** Where nobody is authenticated, whatever somebody could do under some name. */
function byAnybody(approval: LiveApproval): Can {
  const isOpen = approval.status === "pending";
  return {
    ...{ approve: isOpen, reject: isOpen, edit: isOpen, delegate: isOpen, cancel: isOpen, comment: isOpen },
    extend: isOpen && approval.decideBy !== null,
    take_back: isOpen && approval.delegations.length > 0,
    revoke: isGiven(approval),
  };
}

function byPerson(draft: Draft, approval: LiveApproval, who: string, you: YourStanding): Need | Can {
  const cancel = mayTakeBack(draft, approval, who);
  if (typeof cancel === "object") return cancel;
  const roster = draft.state(ROSTER);
  const approve = you.mayDecide && you.whyNot === null;
  return {
    ...{ approve, reject: you.mayDecide, edit: approve, cancel },
    extend: mayExtend(approval, roster, who),
    delegate: mayHandOver(approval, roster, who),
    take_back: maySitAgain(approval, who),
    revoke: isPerson(who) && isGiven(approval),
    comment: mayComment(approval, roster, who),
  };
}

/** Null is nobody in particular. The caller has brought the approval up to the present time, and read the roster. */
export function movesOf(
  draft: Draft,
  approval: LiveApproval,
  who: string | null,
  you: YourStanding,
): Need | readonly Move[] {
  const can = who === null ? byAnybody(approval) : byPerson(draft, approval, who, you);
  if ("kind" in can) return can;
  return MOVES.filter((move) => can[move] && (move !== "edit" || isEditable(approval)));
}
