/** What the pages of actions, effects and receipts ask for. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "./client.ts";

export type Action = AnswerOf<"GET /api/actions/{id}">;
export type ListedAction = AnswerOf<"GET /api/actions">["actions"][number];
export type Receipt = AnswerOf<"GET /api/receipts/{id}">;
export type JournalLine = AnswerOf<"GET /api/history/{id}">["entries"][number];

export const actionQuery = (id: string) =>
  queryOptions({ queryKey: ["actions", id], queryFn: () => client.actions.get(id) });

export const receiptQuery = (id: string) =>
  queryOptions({ queryKey: ["actions", id, "receipt"], queryFn: () => client.receipts.get(id) });

export const historyQuery = (id: string) =>
  queryOptions({ queryKey: ["journal", "history", id], queryFn: () => client.journal.history(id) });
