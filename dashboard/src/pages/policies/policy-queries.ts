/** What the page asks the server about policies. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { AnswerOf, InputOf } from "holdpoint/client";
import { client } from "../../api/client.ts";

export type Version = AnswerOf<"GET /api/policies">["policies"][number];
export type Check = AnswerOf<"POST /api/policies/check">;
export type Explained = AnswerOf<"POST /api/policies/explain">["explanations"][number];
export type Trial = AnswerOf<"GET /api/policies/trials/{id}">;
export type Report = NonNullable<Trial["report"]>;
export type Suggestion = AnswerOf<"GET /api/policies/suggestions">["suggestions"][number];
export type Grant = AnswerOf<"GET /api/grants">["grants"][number];
export type GrantStatus = NonNullable<InputOf<"GET /api/grants">["status"]>;
export type ExplainInput = InputOf<"POST /api/policies/explain">;

export const versionsQuery = queryOptions({
  queryKey: ["policies", "versions"],
  queryFn: async () => (await client.policies.list()).policies,
});

export const versionQuery = (digest: string) =>
  queryOptions({
    queryKey: ["policies", "version", digest],
    queryFn: () => client.policies.get(digest),
    enabled: digest !== "",
  });

/** Asked as one types: what was said of the text before stays until the answer is there. */
export const checkQuery = (text: string) =>
  queryOptions({
    queryKey: ["policies", "check", text],
    queryFn: ({ signal }) => client.policies.check({ text }, { signal }),
    enabled: text.trim() !== "",
    placeholderData: keepPreviousData,
    gcTime: 0,
  });

export const explainQuery = (input: ExplainInput | null) =>
  queryOptions({
    queryKey: ["policies", "explain", input],
    queryFn: async ({ signal }) => (await client.policies.explain(input ?? {}, { signal })).explanations,
    enabled: input !== null,
    gcTime: 0,
  });

const EVERY_MS = 400;

export const trialQuery = (id: string | null) =>
  queryOptions({
    queryKey: ["policies", "trial", id],
    queryFn: () => client.policies.trial(id ?? ""),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data?.state === "running" ? EVERY_MS : false),
    gcTime: 0,
  });

export const suggestionsQuery = (min: number) =>
  queryOptions({
    queryKey: ["policies", "suggestions", min],
    queryFn: ({ signal }) => client.policies.suggest({ min }, { signal }),
    placeholderData: keepPreviousData,
  });

export const grantsQuery = (status: GrantStatus) =>
  infiniteQueryOptions({
    queryKey: ["grants", "list", status],
    queryFn: ({ pageParam }) => client.grants.list({ status, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

export const grantQuery = (id: string) =>
  queryOptions({ queryKey: ["grants", "one", id], queryFn: () => client.grants.get(id) });
