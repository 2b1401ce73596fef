/**
 * Who has the example ask, and what it asks now.
 *
 * E1. By itself it asks once, in a store in which nobody has done anything: the request's name leads to the same for ever.
 */

import { followApprovals } from "../approvals/lists.ts";
import { pageOfActions } from "../effects/actions.ts";
import type { JsonObject } from "../kernel/json.ts";
import { actionStream, workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import type { Asker, ExampleStanding } from "../server/routes/example.ts";
import type { Office } from "../server/tenants.ts";
import { listWorkflows } from "../workflows/read.ts";
import { requestByName, type WorkflowRequest } from "../workflows/start.ts";
import { EXAMPLE } from "./refund.ts";

const FIRST = "the example's first question";
/** The newest; what is older is not looked at. */
const PENDING = { view: "approvals", bucket: "pending", order: "newest", limit: 100 } as const;

const isLikeIt = ({ data }: { readonly data: JsonObject }): boolean =>
  data["tool"] === EXAMPLE.refund && data["agent"] === EXAMPLE.agent;

/** The example's workflow in which the action was called. Others may call a tool of that name, under that name of an agent. */
async function exampleOf(runtime: Runtime, id: string): Promise<string | null> {
  const action = await readState(runtime, actionStream(id));
  const within = action.phase === "none" ? undefined : action.within?.workflow;
  if (within === undefined) return null;
  const workflow = await readState(runtime, workflowStream(within));
  return workflow.status !== "none" && workflow.name === EXAMPLE.workflow ? within : null;
}

async function standing(runtime: Runtime): Promise<ExampleStanding> {
  const rows = await runtime.store.query(runtime.tenant, PENDING);
  for (const { stream, data } of rows.filter(isLikeIt)) {
    const workflow = await exampleOf(runtime, String(data["action"]));
    if (workflow !== null) return { approval: stream.id, workflow };
  }
  return { approval: null, workflow: null };
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

export const example: Example = { agent: EXAMPLE.agent, standing, ask, askFirst };
