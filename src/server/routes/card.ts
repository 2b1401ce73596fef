/** The card of an approval, and edits tried before they are made. Nothing here writes. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { cardSchema, triedSchema } from "../card-wire.ts";
import { route } from "../route.ts";
import { idParams, json } from "../wire.ts";
import { approvalSchema } from "./approvals.ts";

const open = (): never => {
  throw new HoldpointError("unknown_route", "This is not there yet.");
};

export const cardRoutes = [
  route({
    method: "GET",
    path: "/api/approvals/{id}/card",
    summary: "All that somebody sees before they decide: the approval, and what stands around it",
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    answers: { 200: z.object({ approval: approvalSchema, card: cardSchema }) },
    handle: async () => open(),
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/try",
    summary: "What would become of an edit: whether it fits, and what policy says of it. Nothing is written",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: z.strictObject({ edit: json.meta({ description: "fields of what was proposed, replaced" }) }),
    answers: { 200: triedSchema },
    whenLost: "none",
    handle: async () => open(),
  }),
];
