/** The pages of the desk. All of them are the same file: which one it is, the browser sees by the address. */
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Desk } from "../pages/desk.ts";
import { publicRoute } from "../route.ts";

const PAGES = [
  ["/", "What waits today"],
  ["/approvals", "The inbox"],
  ["/approvals/{id}", "An approval: what is asked, and the place to decide"],
  ["/workflows", "Workflows"],
  ["/workflows/{id}", "A workflow: its timeline, checkpoints, effects and journal"],
  ["/actions/{id}", "An action: what was to be done, and what became of it"],
  ["/in-doubt", "Effects of which nobody knows whether they happened"],
  ["/policies", "Policies: versions, back-tests, suggestions, standing grants"],
  ["/agents", "Agents and keys"],
  ["/activity", "What was asked, decided and done, in charts"],
  ["/nodes", "Nodes"],
  ["/kill-switch", "The kill switch"],
  ["/settings", "Settings"],
  ["/more", "The pages that a phone's bar has no room for"],
] as const;

const nothing = z.object({});
/** Without one, it is the page of all of them. */
const one = z.object({ id: z.string().max(600) });
const file = z.object({ file: z.string().min(1).max(200) });
/** What follows the ? is the page's own affair. */
const anything = z.record(z.string(), z.unknown());

function built(desk: Desk | undefined): Desk {
  if (desk !== undefined) return desk;
  throw new HoldpointError("unknown_route", "The desk was not built.", {
    next: "Build it with `npm run build`; the API and the reference at /docs are there without it.",
  });
}

export function deskRoutes(desk: Desk | undefined) {
  const pages = PAGES.map(([path, summary]) =>
    publicRoute({
      method: "GET",
      path,
      summary: `Page: ${summary}`,
      tag: "desk",
      scope: "public",
      params: path.includes("{id}") ? one : nothing,
      query: anything,
      answers: { 200: "text/html" },
      handle: async ({ header }) => built(desk).page(header("accept-encoding")),
    }),
  );
  const assets = publicRoute({
    method: "GET",
    path: "/assets/{file}",
    summary: "A file of the desk",
    tag: "desk",
    scope: "public",
    params: file,
    answers: { 200: "application/octet-stream" },
    handle: async ({ params, header }) => built(desk).asset(params.file, header("accept-encoding")),
  });
  return [...pages, assets];
}
