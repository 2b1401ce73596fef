/** Whether a vote whose answer was lost has arrived: it stands there with the digest of what its voter was shown. */
import type { Approval, Decision } from "../../api/approvals.ts";
import { personName } from "./words.ts";

type Votes = Pick<Approval, "votes">;
type Sent = Pick<Decision, "decision" | "shown">;

/** `name` is the voter's own. Another's vote on the same card has the same digest. */
export const hasArrived = ({ votes }: Votes, sent: Sent | undefined, name: string): boolean =>
  sent?.shown !== undefined &&
  votes.some(
    ({ by, decision, shown }) =>
      personName(by) === personName(name) && decision === sent.decision && shown === sent.shown,
  );
