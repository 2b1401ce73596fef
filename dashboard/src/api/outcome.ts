/** What became of an action that people were asked about. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "./client.ts";

export type Outcome = AnswerOf<"GET /api/actions/{id}">;

export const outcomeQuery = (action: string) =>
  queryOptions({ queryKey: ["actions", action], queryFn: () => client.actions.get(action) });
