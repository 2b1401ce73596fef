/**
 * A vote, from where it is cast to where it is known what came of it.
 *
 * B1. Where its answer is lost, the card is asked: a vote that stands there has arrived, and nothing is unknown any more.
 */
import { useNavigate } from "@tanstack/react-router";
import { useLayoutEffect } from "react";
import { type Approval, type Decision, useVote } from "../../api/approvals.ts";
import { nameOf, useSession } from "../../api/session.ts";
import { toast } from "../../ui/toaster.tsx";
import { hasArrived } from "./own-vote.ts";

const DONE = {
  recorded: "Your decision is recorded.",
  same: "You had decided so before.",
  edit_open: "Your changes are on their way: whoever has the tool reviews them.",
};

export type Ballot = {
  readonly vote: ReturnType<typeof useVote>;
  readonly cast: (decision: Decision) => void;
};

/** `onCast` is told once it counts. */
export function useBallot(approval: Approval, onCast: (stands: Approval) => void): Ballot {
  const { principal } = useSession();
  const navigate = useNavigate();
  const vote = useVote(approval.request_id);
  const isFound = vote.isError && hasArrived(approval, vote.variables, nameOf(principal));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is found.
  useLayoutEffect(() => {
    if (!isFound) return;
    onCast(approval);
    vote.reset();
    if (approval.status === "pending") toast(DONE.recorded);
  }, [isFound]);
  const cast = (decision: Decision) =>
    vote.mutate(decision, {
      onSuccess: ({ kind, approval_id: id, stands }) => {
        onCast(stands);
        // What is decided says so itself.
        if (stands.status === "pending" || kind === "same") toast(DONE[kind]);
        // Under another rule other people are asked, in another approval.
        if (id !== approval.request_id) void navigate({ to: "/approvals/$id", params: { id } });
      },
    });
  return { vote, cast };
}
