/** Routes of approvals that no verb makes: what they answer depends on what the reader may read. Nothing here writes. */
import { z } from "zod";
import { readCard, sealCard } from "../../approvals/card.ts";
import { cardCodec, triedSchema } from "../../approvals/card-schema.ts";
import type { Approval } from "../../approvals/contract.ts";
import { attentionOf } from "../../approvals/lists.ts";
import { presentApproval } from "../../approvals/present.ts";
import { tryEdit } from "../../approvals/try-edit.ts";
import { approvalView, attentionView } from "../../approvals/views.ts";
import { viewCodec } from "../../kernel/codec.ts";
import type { Scope } from "../../people/rules/scopes.ts";
import { checkScopes } from "../needs.ts";
import { personOf } from "../person.ts";
import { type Asked, ok, route } from "../route.ts";
import { bySchema, idParams, json } from "../wire.ts";

const approvalWire = viewCodec(approvalView);
export const approvalSchema = approvalWire.wire;
export const approvalOnWire = async ({ runtime }: Pick<Asked, "runtime">, approval: Approval) =>
  approvalWire.encode(await presentApproval(runtime, approval));

const attention = viewCodec(attentionView);
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
    answers: { 200: z.object({ approval: approvalSchema, card: cardCodec.wire }) },
    async handle({ runtime, who, params }) {
      // A card shows what is around a question too.
      checkScopes({ who }, ["actions:read", "workflows:read"]);
      const looker = { principal: who.principal, mayDecide: who.can("approvals:decide") };
      const { approval: full, card } = await readCard(runtime, params.id, looker);
      const approval = await approvalOnWire({ runtime }, full);
      return ok({ approval, card: sealCard(approval, card) });
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
      // Where nobody is authenticated and nobody is named, it is tried as by somebody who may decide.
      const isNobody = who.principal === null && named === undefined;
      const editor = isNobody ? {} : { by: personOf(who, named, "approved_by") };
      return ok(tried.encode(await tryEdit(runtime, params.id, { edit, ...editor })));
    },
  }),
];
