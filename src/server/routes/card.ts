/** The card of an approval, and edits tried before they are made. Nothing here writes. */
import { z } from "zod";
import { cardOf } from "../../approvals/card.ts";
import { tryEdit } from "../../approvals/try-edit.ts";
import { HoldpointError } from "../../core/errors.ts";
import type { Scope } from "../../core/scopes.ts";
import { cardOnWire, rowDigest, shownDigest, youOnWire } from "../card-on-wire.ts";
import { cardSchema, triedSchema } from "../card-wire.ts";
import { personOf } from "../person.ts";
import { type Asked, ok, route } from "../route.ts";
import { bySchema, idParams, json } from "../wire.ts";
import { approvalOnWire, approvalSchema } from "./approvals.ts";

/** A card shows what is around a question too. */
const AROUND: readonly Scope[] = ["actions:read", "workflows:read"];

function checkAround({ who }: Pick<Asked, "who">): void {
  const lacking = AROUND.find((scope) => !who.can(scope));
  if (lacking !== undefined) throw new HoldpointError("forbidden", `This needs the scope ${lacking}.`);
}

/** Where nobody is authenticated and nobody is named, it is tried as by somebody who may decide. */
function editorOf({
  who,
  body,
}: Pick<Asked, "who"> & { readonly body: { approved_by?: string | undefined } }) {
  const isNobody = who.principal === null && body.approved_by === undefined;
  return isNobody ? {} : { by: personOf(who, body.approved_by, "approved_by") };
}

export const cardRoutes = [
  route({
    method: "GET",
    path: "/api/approvals/{id}/card",
    summary: "All that somebody sees before they decide: the approval, and what stands around it",
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    answers: { 200: z.object({ approval: approvalSchema, card: cardSchema }) },
    async handle({ runtime, who, params }) {
      checkAround({ who });
      const looker = { principal: who.principal, mayDecide: who.can("approvals:decide") };
      const found = await cardOf(runtime, params.id, looker);
      const approval = await approvalOnWire({ runtime }, found.approval);
      const card = cardOnWire(found);
      const digests = { shown: shownDigest(approval, card), shown_row: rowDigest(approval, found) };
      return ok({ approval, card: { ...digests, ...card, you: youOnWire(found) } });
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
    answers: { 200: triedSchema },
    whenLost: "none",
    async handle({ runtime, who, params, body }) {
      return ok(await tryEdit(runtime, params.id, { edit: body.edit, ...editorOf({ who, body }) }));
    },
  }),
];
