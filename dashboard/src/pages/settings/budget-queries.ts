import { infiniteQueryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "../../api/client.ts";

export type Budget = AnswerOf<"GET /api/budgets">["budgets"][number];

export const budgetsQuery = infiniteQueryOptions({
  queryKey: ["budgets", "list"],
  queryFn: ({ pageParam }) => client.budgets.list({ cursor: pageParam }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
});
