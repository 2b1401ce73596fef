/** The pages that links in messages open. They show; nothing is ever decided by a GET. */
import { z } from "zod";
import { type RenderCard, type Shown, shownOf } from "../../engine/message/shown.ts";
import { actionStream, approvalStream } from "../../kernel/stream.ts";
import type { Scope } from "../../people/rules/scopes.ts";
import { checkScopes } from "../needs.ts";
import { type CardFacts, cardPage, type Decidable, problemPage, strangerPage } from "../pages/card.ts";
import type { Problem } from "../problem.ts";
import { type Answer, route } from "../route.ts";

export type CardParts = {
  readonly render: RenderCard;
  /** The flags by which a command reaches this server; nothing where its public address is not known. */
  readonly where: string;
};

const params = z.object({ id: z.string().min(1).max(100) });
const query = z.strictObject({
  again: z.literal("1").optional().meta({ description: "asked once more, by the page itself" }),
});
/** A card shows what is around a question too. */
const NEEDED: readonly Scope[] = ["approvals:read", "actions:read", "workflows:read"];

function decidable(shown: Shown): Decidable | null {
  if (!("approval" in shown) || shown.approval?.status !== "pending") return null;
  const { id, binding } = shown.approval;
  return { id, binding, isQuestion: shown.kind === "question" };
}

/** To be logged in, and to come back. */
const toLogin = (path: string): Answer => ({
  status: 303,
  text: "",
  type: "text/html; charset=utf-8",
  headers: { location: `/login?to=${encodeURIComponent(path)}` },
});

/** In words, for whoever looks with a browser. */
function shownProblem(problem: Problem, url: string): Answer {
  if (problem.code !== "unauthenticated") return problemPage(problem);
  const [path = "/", asked] = url.split("?");
  return asked === "again=1" ? toLogin(path) : strangerPage(path);
}

export function cardPageRoutes(cards: CardParts) {
  const page = (title: string, shown: Shown, now: number): Answer => {
    const lines = cards.render(shown, now, cards.where);
    return cardPage({ title, lines, decide: decidable(shown) } satisfies CardFacts);
  };
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
        checkScopes({ who }, NEEDED);
        const shown = await shownOf(runtime, { ref: approvalStream(id), data: {} });
        return page(`approval ${id}`, shown, runtime.clock.now());
      },
    }),
    route({
      method: "GET",
      path: "/actions/{id}/plain",
      summary: "An action as a page without scripts: what was to be done, and what became of it",
      tag: "actions",
      scope: "actions:read",
      params,
      query,
      answers: { 200: "text/html" },
      problem: shownProblem,
      async handle({ runtime, who, params: { id } }) {
        checkScopes({ who }, NEEDED);
        const shown = await shownOf(runtime, { ref: actionStream(id), data: {} });
        return page(`action ${id}`, shown, runtime.clock.now());
      },
    }),
  ];
}
