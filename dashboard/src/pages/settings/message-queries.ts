/** Endpoints and what is sent to them. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { AnswerOf, InputOf } from "holdpoint/client";
import { client } from "../../api/client.ts";

export type Endpoint = AnswerOf<"GET /api/endpoints">["endpoints"][number];
export type Message = AnswerOf<"GET /api/messages">["messages"][number];
export type MessageStatus = NonNullable<InputOf<"GET /api/messages">["status"]>;

export const endpointsQuery = queryOptions({
  queryKey: ["endpoints", "list"],
  queryFn: async () => (await client.endpoints.list()).endpoints,
});

export const messagesQuery = (status: MessageStatus) =>
  infiniteQueryOptions({
    queryKey: ["endpoints", "messages", status],
    queryFn: ({ pageParam }) => client.messages.list({ status, limit: 50, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
