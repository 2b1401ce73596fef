/** The card of an approval, and edits tried before they are made. Nothing here writes. */
import { z } from "zod";
import { readCard, sealCard } from "../../approvals/card.ts";
import { type CardOnWire, cardCodec, triedSchema } from "../../approvals/card-schema.ts";
import { tryEdit } from "../../approvals/try-edit.ts";
import { makeCodec, type OnWire } from "../../kernel/codec.ts";
import { checkScopes } from "../needs.ts";
import { personOf } from "../person.ts";
import { ok, route } from "../route.ts";
import { bySchema, idParams, json } from "../wire.ts";
import { approvalOnWire, approvalSchema } from "./approvals.ts";

const cardOnWire = cardCodec.wire as z.ZodType<CardOnWire>;
const triedOnWire = makeCodec(triedSchema).wire as z.ZodType<OnWire<typeof triedSchema, "approval">>;

export const cardRoutes = [
  route({
    method: "GET",
    path: "/api/approvals/{id}/card",
    summary: "All that somebody sees before they decide: the approval, and what stands around it",
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    answers: { 200: z.object({ approval: approvalSchema, card: cardOnWire }) },
    async handle({ runtime, who, params }) {
      // A card shows what is around a question too.
      checkScopes({ who }, ["actions:read", "workflows:read"]);
      const looker = { principal: who.principal, mayDecide: who.can("approvals:decide") };
      const { approval: full, card } = await readCard(runtime, params.id, looker);
      const approval = await approvalOnWire({ runtime }, full);
      const { you, ...shown } = cardCodec.encode(sealCard(approval, card)) as CardOnWire;
      return ok({ approval, card: { ...shown, you } });
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
    answers: { 200: triedOnWire },
    whenLost: "none",
    async handle({ runtime, who, params, body }) {
      const { edit, approved_by: named } = body;
      // Where nobody is authenticated and nobody is named, it is tried as by somebody who may decide.
      const isNobody = who.principal === null && named === undefined;
      const editor = isNobody ? {} : { by: personOf(who, named, "approved_by") };
      return ok(await tryEdit(runtime, params.id, { edit, ...editor }));
    },
  }),
];
