/** One approval at the desk: what is shown of it, what whoever sits here may do, and what they are doing. */
import { useState } from "react";
import type { Approval, Card, CardAnswer } from "../../api/approvals.ts";
import { may, useSession } from "../../api/session.ts";
import { jsonOf } from "../../format/json.ts";
import { keepText, keptDraft } from "./kept-drafts.ts";
import { type Ballot, useBallot } from "./use-ballot.ts";
import { useKeptText } from "./use-kept-text.ts";
import { type Seen, useSeen } from "./use-seen.ts";

/** What stands in front of the page, if anything. */
export type Asking = "confirm" | "reject" | "extend" | "delegate" | "take-back" | "cancel" | "revoke" | null;

export type Move = Card["you"]["may"][number];

export type Desk = {
  readonly approval: Approval;
  readonly card: Card;
  readonly seen: Seen;
  readonly isOpen: boolean;
  /** As the server says. */
  readonly can: (move: Move) => boolean;
  /** May say yes or no, now, to what is shown. */
  readonly mayDecide: boolean;
  /** Some may only say no. */
  readonly mayApprove: boolean;
  readonly hasScope: boolean;
  readonly isEditing: boolean;
  readonly setEditing: (isEditing: boolean) => void;
  /** Somebody else decided, while something was being written here. */
  readonly isCutShort: boolean;
  readonly asking: Asking;
  readonly setAsking: (asking: Asking) => void;
  readonly note: string;
  readonly setNote: (note: string) => void;
  readonly vote: Ballot["vote"];
  readonly approve: (edit?: unknown) => void;
  readonly reject: (reason: string, isFinal: boolean) => void;
};

/** Something was being changed when somebody looked elsewhere. */
function wasEditing({ approval, card }: CardAnswer): boolean {
  const kept = keptDraft(approval);
  return card.you.may.includes("edit") && kept !== null && kept !== "changed";
}

export function useDesk({ approval, card }: CardAnswer): Desk {
  const session = useSession();
  const seen = useSeen(approval);
  const [asking, setAsking] = useState<Asking>(null);
  const [isEditing, setEditing] = useState(() => wasEditing({ approval, card }));
  const [note, setNote] = useKeptText(approval, "note");
  const { vote, cast } = useBallot(approval, (stands) => {
    seen.accept(stands);
    setEditing(false);
    setAsking(null);
    setNote("");
    keepText(approval, "reason", "");
  });
  const hasScope = may(session, "approvals:decide");
  const isPending = approval.status === "pending";
  const wasPending = seen.before.status === "pending";
  const can = (move: Move) => card.you.may.includes(move);
  const about = { binding: approval.binding, shown: card.shown };
  const words = note.trim() === "" ? {} : { note: note.trim() };
  return {
    approval,
    card,
    seen,
    isOpen: session.isOpen,
    hasScope,
    can,
    mayDecide: can("reject") && !seen.isChanged,
    mayApprove: can("approve") && !seen.isChanged,
    isEditing: isEditing && isPending,
    isCutShort: !isPending && wasPending && !vote.isPending && !vote.isSuccess,
    setEditing,
    asking,
    setAsking: (next) => {
      // What went wrong before is no word on what is asked now.
      if (next !== null) vote.reset();
      setAsking(next);
    },
    note,
    setNote,
    vote,
    approve: (edit) =>
      cast({
        decision: "approve",
        ...about,
        ...words,
        ...(edit === undefined ? {} : { edit: jsonOf(edit) }),
      }),
    reject: (reason, isFinal) =>
      cast({ decision: "reject", reason, ...about, ...(isFinal ? { final: true } : {}) }),
  };
}
