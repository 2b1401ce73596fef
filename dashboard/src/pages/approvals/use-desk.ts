/** One approval at the desk: what is shown of it, what whoever sits here may do, and what they are doing. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Approval, type Card, type CardAnswer, useVote } from "../../api/approvals.ts";
import { may, useSession } from "../../api/session.ts";
import { jsonOf } from "../../format/json.ts";
import { toast } from "../../ui/toaster.tsx";
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
  readonly vote: ReturnType<typeof useVote>;
  readonly approve: (edit?: unknown) => void;
  readonly reject: (reason: string, isFinal: boolean) => void;
};

const DONE = {
  recorded: "Your decision is recorded.",
  same: "You had decided so before.",
  edit_open: "Your changes are on their way: whoever has the tool reviews them.",
};

export function useDesk({ approval, card }: CardAnswer): Desk {
  const session = useSession();
  const navigate = useNavigate();
  const seen = useSeen(approval);
  const [asking, setAsking] = useState<Asking>(null);
  const [isEditing, setEditing] = useState(false);
  const [note, setNote] = useState("");
  const vote = useVote(approval.request_id);
  const hasScope = may(session, "approvals:decide");
  const isPending = approval.status === "pending";
  const wasPending = seen.before.status === "pending";
  const can = (move: Move) => card.you.may.includes(move);
  const about = { binding: approval.binding, shown: card.shown };
  const cast = (decision: Parameters<typeof vote.mutate>[0]) =>
    vote.mutate(decision, {
      onSuccess: ({ vote: cast, ...stands }) => {
        seen.accept(stands);
        setEditing(false);
        setAsking(null);
        setNote("");
        // What is decided says so itself.
        if (stands.status === "pending" || cast.kind === "same") toast(DONE[cast.kind]);
        // Under another rule other people are asked, in another approval.
        const { request_id: id } = cast;
        if (id !== approval.request_id) void navigate({ to: "/approvals/$id", params: { id } });
      },
    });
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
