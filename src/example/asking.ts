/**
 * Who has the example ask, and what it asks now.
 *
 * E1. By itself it asks once, in a store in which nobody has done anything: the request's name leads to the same for ever.
 */

import { actionStream } from "../core/stream.ts";
import { pageOfActions } from "../engine/actions.ts";
import { followApprovals } from "../engine/follow-approvals.ts";
import { readState } from "../engine/read-state.ts";
import type { Runtime } from "../engine/runtime.ts";
import { listWorkflows } from "../engine/workflow/operate-workflows.ts";
import { requestByName, type WorkflowRequest } from "../engine/workflow/request.ts";
import type { Asker, ExampleStanding } from "../server/routes/example.ts";
import type { Office } from "../server/tenants.ts";
import { EXAMPLE } from "./refund.ts";

const FIRST = "the example's first question";
/** The newest; what is older is not looked at. */
const PENDING = { view: "approvals", bucket: "pending", order: "newest", limit: 100 } as const;

async function standing(runtime: Runtime): Promise<ExampleStanding> {
  const rows = await runtime.store.query(runtime.tenant, PENDING);
  const asked = rows.find(({ data }) => data["tool"] === EXAMPLE.refund);
  if (asked === undefined) return { approval: null, workflow: null };
  const action = await readState(runtime, actionStream(String(asked.data["action"])));
  return {
    approval: asked.stream.id,
    workflow: action.phase === "none" ? null : (action.within?.workflow ?? null),
  };
}

async function ask({ runtime, wake }: Office, request: WorkflowRequest): Promise<string> {
  const { id } = await requestByName(runtime, EXAMPLE.workflow, {}, request);
  wake();
  return id;
}

async function isUntouched(runtime: Runtime): Promise<boolean> {
  const [actions, workflows] = [
    await pageOfActions(runtime, { phase: "any", limit: 1 }),
    await listWorkflows(runtime, { status: "any", limit: 1 }),
  ];
  return actions.items.length === 0 && workflows.items.length === 0;
}

/** Answers when its question is there for people, or time is up. */
async function askFirst(office: Office, withinMs: number): Promise<void> {
  const { runtime } = office;
  if (!(await isUntouched(runtime))) return;
  await ask(office, { requestId: FIRST });
  const signal = AbortSignal.any([runtime.closing, AbortSignal.timeout(withinMs)]);
  for await (const _ of followApprovals(runtime, signal))
    if ((await standing(runtime)).approval !== null) return;
}

export type Example = Asker & { askFirst(office: Office, withinMs: number): Promise<void> };

export const example: Example = { standing, ask, askFirst };
