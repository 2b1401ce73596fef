/** What is asked about approvals beside their verbs. */
import type { Approval } from "../../approvals/contract.ts";
import { attentionOf } from "../../approvals/lists.ts";
import { presentApproval } from "../../approvals/present.ts";
import { approvalView, attentionView } from "../../approvals/views.ts";
import type { Scope } from "../../core/scopes.ts";
import { viewCodec } from "../../kernel/codec.ts";
import { type Asked, ok, route } from "../route.ts";

const approvalWire = viewCodec(approvalView);
export const approvalSchema = approvalWire.wire;
export const approvalOnWire = async ({ runtime }: Pick<Asked, "runtime">, approval: Approval) =>
  approvalWire.encode(await presentApproval(runtime, approval));

const attention = viewCodec(attentionView);

export const attentionRoutes = [
  route({
    method: "GET",
    path: "/api/attention",
    summary: "What wants somebody now: approvals, those that whoever asks may decide, doubts, alerts",
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
];
