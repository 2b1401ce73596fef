/** The approvals before and after this one among those that wait, as the inbox was last looked at: for whoever looks, oldest first, unless it was otherwise. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { fewQuery } from "../../api/approvals.ts";
import { lastInbox } from "./last-inbox.ts";

const AROUND = 100;

export type Neighbours = {
  readonly next: string | null;
  readonly before: string | null;
  readonly left: number;
  /** False while it is not known whether more wait for whoever looks. */
  readonly isAll: boolean;
  readonly go: (id: string | null) => void;
};

export function useNeighbours(id: string): Neighbours {
  const navigate = useNavigate();
  const { asked, isWhole } = lastInbox();
  const { data, isError } = useQuery(fewQuery(asked, AROUND));
  const ids = (data?.approvals ?? []).map(({ request_id }) => request_id);
  const at = ids.indexOf(id);
  // Once it is decided it is no longer there: the next one stands in its place.
  const last = useRef(0);
  if (at >= 0) last.current = at;
  const others = ids.filter((one) => one !== id);
  return {
    next: others[last.current] ?? others[0] ?? null,
    before: others[last.current - 1] ?? null,
    left: others.length,
    isAll: data?.next_cursor === null && !isError && isWhole,
    go: (to) => {
      if (to !== null) void navigate({ to: "/approvals/$id", params: { id: to } });
    },
  };
}
