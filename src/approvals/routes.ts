/**
 * Routes of approvals that are not verbs: reads whose response depends on the reader's scopes, and the HTML pages that
 * links in messages open. Nothing here writes: a GET never decides anything.
 */
import { z } from "zod";
import { actingPerson } from "../api/authenticate.ts";
import { cardPage, type Decidable, problemPage, strangerPage } from "../api/pages/plain-pages.ts";
import { checkHasScopes, ok, type Problem, type RouteAnswer, route } from "../api/route.ts";
import { bySchema, idParams, json } from "../api/wire.ts";
import { viewCodec } from "../kernel/codec.ts";
import type { Scope } from "../kernel/registry.ts";
import type { CardDocument } from "../kernel/terminal.ts";
import type { RenderCard } from "../notify/channel.ts";
import { readActionDocument, readCard, readSealedCard } from "./card.ts";
import { approvalDocument } from "./card-document.ts";
import { approvalWire, cardCodec, triedSchema } from "./card-schema.ts";
import type { Approval } from "./contract.ts";
import { attentionOf, attentionSchema } from "./lists.ts";
import { tryEdit } from "./try-edit.ts";

const attention = viewCodec(attentionSchema);
const tried = viewCodec(triedSchema);

export const approvalReads = [
  route({
    method: "GET",
    path: "/api/attention",
    summary: "What needs attention now: pending approvals, those that the caller may decide, doubts, alerts",
    tag: "approvals",
    scope: "approvals:read",
    answers: { 200: attention.wire },
    async handle({ runtime, who }) {
      const all = await attentionOf(runtime, who.principal);
      const ifReadable = (scope: Scope, figure: number) => (who.can(scope) ? figure : 0);
      return ok(
        attention.encode({
          ...all,
          inDoubt: ifReadable("actions:read", all.inDoubt),
          alerts: ifReadable("alerts:read", all.alerts),
          deadMessages: ifReadable("endpoints:read", all.deadMessages),
          stopped: ifReadable("switch:read", all.stopped),
        }),
      );
    },
  }),
  route({
    method: "GET",
    path: "/api/approvals/{id}/card",
    summary: "The card that a person sees before deciding: the approval and its context",
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    answers: { 200: z.object({ approval: approvalWire.wire, card: cardCodec.wire }) },
    async handle({ runtime, who, params }) {
      // A card also shows the context of a question.
      checkHasScopes({ who }, ["actions:read", "workflows:read"]);
      const looker = { principal: who.principal, mayDecide: who.can("approvals:decide") };
      const { approval, card } = await readSealedCard(runtime, params.id, looker);
      return ok({ approval: approvalWire.encode(approval), card: cardCodec.encode(card) });
    },
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/try",
    summary: "What would become of an edit: whether it fits, and what policy says of it. Nothing is written",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: z.strictObject({
      edit: json.meta({ description: "fields of what was proposed, replaced" }),
      approved_by: bySchema,
    }),
    answers: { 200: tried.wire },
    whenLost: "none",
    async handle({ runtime, who, params, body }) {
      const { edit, approved_by: named } = body;
      // Without authentication and without a name, it is tried as a person who may decide.
      const isNobody = who.principal === null && named === undefined;
      const editor = isNobody ? {} : { by: actingPerson(who, named, "approved_by") };
      return ok(tried.encode(await tryEdit(runtime, params.id, { edit, ...editor })));
    },
  }),
];

export type CardParts = {
  readonly render: RenderCard;
  /** Command-line flags that reach this server. Empty if its public address is unknown. */
  readonly where: string;
};

const params = z.object({ id: z.string().min(1).max(100) });
const query = z.strictObject({
  again: z.literal("1").optional().meta({ description: "asked once more, by the page itself" }),
});
/** A card also shows the context of a question. */
const NEEDED: readonly Scope[] = ["approvals:read", "actions:read", "workflows:read"];

const decidable = ({ id, binding, status, about }: Approval): Decidable | null =>
  status === "pending" ? { id, binding, isQuestion: about === "question" } : null;

/** Redirects to the login page, which leads back here. */
const toLogin = (path: string): RouteAnswer => ({
  status: 303,
  text: "",
  type: "text/html; charset=utf-8",
  headers: { location: `/login?to=${encodeURIComponent(path)}` },
});

/** A readable page for browsers. */
function shownProblem(problem: Problem, url: string): RouteAnswer {
  if (problem.code !== "unauthenticated") return problemPage(problem);
  const [path = "/", asked] = url.split("?");
  return asked === "again=1" ? toLogin(path) : strangerPage(path);
}

export function cardPageRoutes(cards: CardParts) {
  const linesOf = (document: CardDocument, now: number) => cards.render(document, now, cards.where);
  return [
    route({
      method: "GET",
      path: "/approvals/{id}/plain",
      summary:
        "An approval as a page without scripts: what is asked, by whom, under which rule, and how to decide",
      tag: "approvals",
      scope: "approvals:read",
      params,
      query,
      answers: { 200: "text/html" },
      problem: shownProblem,
      async handle({ runtime, who, params: { id } }) {
        checkHasScopes({ who }, NEEDED);
        const { facts } = await readCard(runtime, id);
        const lines = linesOf(approvalDocument(facts), runtime.clock.now());
        return cardPage({ title: `approval ${id}`, lines, decide: decidable(facts.approval) });
      },
    }),
    route({
      method: "GET",
      path: "/actions/{id}/plain",
      summary: "An action as a page without scripts: what was proposed, and its outcome",
      tag: "actions",
      scope: "actions:read",
      params,
      query,
      answers: { 200: "text/html" },
      problem: shownProblem,
      async handle({ runtime, who, params: { id } }) {
        checkHasScopes({ who }, NEEDED);
        const lines = linesOf(await readActionDocument(runtime, id), runtime.clock.now());
        return cardPage({ title: `action ${id}`, lines, decide: null });
      },
    }),
  ];
}
