/** Approvals: what waits, one in full, and what people do with it. */
import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { AnswerOf, InputOf } from "holdpoint/client";
import type { MadeOf } from "../live/touches.ts";
import { belowKey } from "../live/use-long-list.ts";
import { claimedName } from "./claimed-name.ts";
import { client } from "./client.ts";
import { byOf, type Session, useSession } from "./session.ts";

export type Summary = AnswerOf<"GET /api/approvals">["approvals"][number];
export type Approval = AnswerOf<"GET /api/approvals/{id}">;
export type CardAnswer = AnswerOf<"GET /api/approvals/{id}/card">;
export type Card = CardAnswer["card"];
export type Tried = AnswerOf<"POST /api/approvals/{id}/try">;
export type Asked = Omit<InputOf<"GET /api/approvals">, "limit" | "cursor">;

/** The first page comes soon; whoever goes on gets more at a time. */
const FIRST = 100;
const THEN = 500;

/** Under which the list is kept. */
export const listKey = (asked: Asked) => ["approvals", "list", asked] as const;

export async function listPage(asked: Asked, cursor: string | undefined) {
  const from = cursor === undefined ? { limit: FIRST } : { limit: THEN, cursor };
  const { approvals, next_cursor } = await client.approvals.list({ ...asked, ...from });
  return { items: approvals, next: next_cursor };
}

/** The first few, where no more are looked at. */
export const fewQuery = (asked: Asked, limit: number) =>
  queryOptions({
    queryKey: ["approvals", "few", asked, limit],
    queryFn: ({ signal }) => client.approvals.list({ ...asked, limit }, { signal }),
  });

const CHOICES_MS = 20_000;

/** Of whom and of what a list can be asked: looked up now and then, whatever is chosen at the moment. */
export const choicesQuery = (asked: Asked) =>
  queryOptions({
    queryKey: ["choices", asked],
    queryFn: ({ signal }) => client.approvals.list({ ...asked, limit: THEN }, { signal }),
    staleTime: CHOICES_MS,
    refetchInterval: CHOICES_MS,
  });

/** A card can be large: it is asked for again when something of its own has changed, or who may decide. */
const madeOf =
  (id: string): MadeOf<CardAnswer> =>
  (answer) => {
    const { action_id: action, workflow_id: workflow } = answer?.approval ?? {};
    const budgets = answer?.card.costs.map(({ budget }) => `budget/${budget}`) ?? [];
    return [`approval/${id}`, `action/${action}`, `workflow/${workflow}`, "roster/people", ...budgets];
  };

export const cardQuery = (id: string) =>
  queryOptions({
    queryKey: ["approvals", "card", id],
    queryFn: ({ signal }) => client.approvals.card(id, { signal }),
    meta: { madeOf: madeOf(id) },
    // What is decided on is never an old answer: it is asked for whenever somebody opens it.
    staleTime: 0,
  });

/** What became of one that has left a list. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ["approvals", "one", id],
    queryFn: ({ signal }) => client.approvals.get(id, { signal }),
  });

const approvedBy = ({ isOpen }: Session) => (isOpen ? { approved_by: claimedName() } : {});

/** Nothing is written by trying, and nothing that happens makes an answer old: its binding stands in the key. */
export const tryQuery = (session: Session, of: Pick<Approval, "request_id" | "binding">, edit: string) =>
  queryOptions({
    queryKey: ["tried", of.request_id, of.binding, edit],
    queryFn: ({ signal }) => {
      const tried = { edit: JSON.parse(edit) as unknown, ...approvedBy(session) };
      return client.approvals.tryEdit(of.request_id, tried, { signal });
    },
    staleTime: 10_000,
    gcTime: 60_000,
    retry: 1,
  });

type Ballot = InputOf<"POST /api/approvals/{id}/votes">;
type Without<Fields, Names extends PropertyKey> = Fields extends unknown ? Omit<Fields, Names> : never;
export type Decision = Without<Ballot, "approved_by">;

const refresh = (queries: QueryClient) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ["approvals"] }),
    queries.invalidateQueries({ queryKey: belowKey(["approvals"]) }),
    queries.invalidateQueries({ queryKey: ["attention"] }),
  ]);

/** Whatever came of it, what is shown next is what stands. */
function useDoing<Input, Answer>(act: (input: Input, session: Session) => Promise<Answer>) {
  const session = useSession();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => act(input, session),
    onSettled: () => refresh(queries),
  });
}

export const useVote = (id: string) =>
  useDoing(async (decision: Decision, session) => {
    const voted = await client.approvals.vote(id, { ...decision, ...approvedBy(session) } as Ballot);
    return { ...voted, stands: await client.approvals.get(id) };
  });

type Longer = { readonly by_seconds: number };
export const useExtend = (id: string) =>
  useDoing((longer: Longer, session) => client.approvals.extend(id, { ...longer, ...byOf(session) }));

type Handed = { readonly to: string; readonly reason: string };
export const useDelegate = (id: string) =>
  useDoing((handed: Handed, session) => client.approvals.delegate(id, { ...handed, ...byOf(session) }));

type Word = { readonly reason: string };
export const useCancel = (id: string) =>
  useDoing((word: Word, session) => client.approvals.cancel(id, { ...word, ...byOf(session) }));
export const useRevoke = (id: string) =>
  useDoing((word: Word, session) => client.approvals.revoke(id, { ...word, ...byOf(session) }));
export const useTakeBack = (id: string) =>
  useDoing((word: Word, session) => client.approvals.takeBack(id, { ...word, ...byOf(session) }));
export const useComment = (id: string) =>
  useDoing((text: string, session) => client.approvals.comment(id, { text, ...byOf(session) }));

export type Batch = InputOf<"POST /api/approvals/batch">["decisions"];
export const useDecideAll = () =>
  useDoing((decisions: Batch, session) => client.approvals.decideAll({ decisions, ...approvedBy(session) }));
