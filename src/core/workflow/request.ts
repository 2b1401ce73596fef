/**
 * A workflow asked for by its name, by somebody who need not have its definition.
 *
 * Q1. Asking again under the same request id answers the same workflow; with another input, other terms, or for others, it is
 *     a conflict.
 * Q2. None is made in a tenant that was closed.
 */
import { digestOf } from "../../kernel/canonical-json.ts";
import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { readOwnTenant } from "../../people/tenants/stream.ts";

import { type Created, type Creation, createWorkflow } from "./create.ts";
import type { LiveWorkflow } from "./state.ts";

export type Requesting = Via & { readonly by: string };

/** People for whom it is done may not decide about it: one that is not for them is another. Programs never decide. */
function isFor(draft: Draft, workflow: string, requester: readonly string[]): boolean {
  const state = draft.state(workflowStream(workflow)) as LiveWorkflow;
  return requester.filter(isPerson).every((who) => state.requester.includes(who));
}

export function requestWorkflow(
  draft: Draft,
  creation: Creation,
  asking: Requesting,
): Need | Created | { readonly kind: "closed" } {
  const more = draft.need({ read: [readOwnTenant(draft)] });
  if (more !== undefined) return more;
  if (draft.state(readOwnTenant(draft)).status === "closed") return { kind: "closed" };
  const made = createWorkflow(draft, creation);
  if (made.kind === "need" || made.kind === "conflict") return made;
  const { workflow } = made;
  if (made.kind === "existing")
    return isFor(draft, workflow, creation.body.requester) ? made : { kind: "conflict", workflow };
  const given = digestOf((draft.state(workflowStream(workflow)) as LiveWorkflow).input);
  const body = { by: asking.by, given, ...channelField(asking) };
  draft.append(workflowStream(workflow), [{ type: "workflow.requested", tv: 1, body }]);
  return made;
}
