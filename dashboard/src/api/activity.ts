/** What was asked, decided and done, by day. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "./client.ts";

export type Activity = AnswerOf<"GET /api/activity">;
export type Day = Activity["days"][number];
export type Share = Activity["tools"][number];
export type PersonShare = Activity["people"][number];

type Days = NonNullable<NonNullable<Parameters<typeof client.approvals.activity>[0]>["days"]>;

export const activityQuery = (days: Days) =>
  queryOptions({
    queryKey: ["activity", days],
    queryFn: () => client.approvals.activity({ days }),
    placeholderData: (before) => before,
  });
