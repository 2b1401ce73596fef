/** The list of people. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "./client.ts";

export type Person = AnswerOf<"GET /api/people">["people"][number];

export const peopleQuery = queryOptions({
  queryKey: ["people", "list"],
  queryFn: async () => (await client.people.list()).people,
});
