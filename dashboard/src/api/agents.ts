/** Who acts here: whoever has a key, and whoever acted lately. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "./client.ts";

export type Key = AnswerOf<"GET /api/keys">["keys"][number];
export type Share = AnswerOf<"GET /api/activity">["agents"][number];

export const LATELY_DAYS = 30;
const MOST = 100;

export const keysQuery = infiniteQueryOptions({
  queryKey: ["keys", "list"],
  queryFn: ({ pageParam }) => client.keys.list({ limit: MOST, cursor: pageParam }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
});

/** What agents did lately, by agent. */
export const latelyQuery = queryOptions({
  queryKey: ["activity", "agents", LATELY_DAYS],
  queryFn: async () => (await client.approvals.activity({ days: LATELY_DAYS })).agents,
});
