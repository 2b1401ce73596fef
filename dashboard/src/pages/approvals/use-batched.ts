/** The cards of several approvals: as they were when they were first asked for here, and as they stand. */
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { type CardAnswer, cardQuery } from "../../api/approvals.ts";
import type { Batched } from "./batch.ts";

type Seen = ReadonlyMap<string, CardAnswer>;

export type BatchedCards = {
  readonly batched: readonly Batched[];
  /** Every one has come, or it is known why not. */
  readonly isComplete: boolean;
  readonly error: Error | null;
};

/** What was kept from an earlier look is not shown: it may be old. */
export function useBatched(ids: readonly string[]): BatchedCards {
  const cards = useQueries({ queries: ids.map((id) => cardQuery(id)) });
  const [seen, setSeen] = useState<Seen>(new Map());
  const come = cards.flatMap(({ data, isSuccess, isFetchedAfterMount }) =>
    isSuccess && isFetchedAfterMount ? [data] : [],
  );
  const first = come.filter(({ approval }) => !seen.has(approval.request_id));
  if (first.length > 0)
    setSeen(new Map([...seen, ...first.map((one) => [one.approval.request_id, one] as const)]));
  const now = new Map(cards.flatMap(({ data }) => (data ? [[data.approval.request_id, data] as const] : [])));
  const error = cards.find((card) => card.error !== null)?.error ?? null;
  const batched = [...seen].map(([id, one]) => ({ seen: one, now: now.get(id) ?? one }));
  return { batched, isComplete: batched.length === ids.length || error !== null, error };
}
