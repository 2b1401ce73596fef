/**
 * The example of a new server (`serve --example`): its routes, its agent and its tools.
 * Anna wants 1200 USD back, and over 1000 a person decides. All is real but the money: each effect is a line in a file.
 * The server starts it once by itself, in an unused store: a fixed request id identifies that workflow for ever.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { followApprovals } from "../approvals/lists.ts";
import { listActions } from "../effects/actions.ts";
import type { Holdpoint } from "../index.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { actionStream, workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import type { WorkflowRequest } from "../workflows/contract.ts";
import { listWorkflows } from "../workflows/read.ts";
import { workflowVerbs } from "../workflows/verbs.ts";
import { actingPrincipal } from "./authenticate.ts";
import { ok, route } from "./route.ts";
import type { TenantHost } from "./tenant-hosts.ts";

type ExampleStanding = { readonly approval: string | null; readonly workflow: string | null };

export type ExampleAgent = {
  /** The agent that asks. */
  readonly agent: string;
  standing(runtime: Runtime): Promise<ExampleStanding>;
  /** Starts the workflow that will ask. Returns its id. */
  ask(office: TenantHost, request: WorkflowRequest & { readonly via?: string }): Promise<string>;
};

function requireExample(example: ExampleAgent | undefined): ExampleAgent {
  if (example !== undefined) return example;
  throw new HoldpointError("unknown_route", "This server has no example.", {
    next: "Start it with `holdpoint serve --example`.",
  });
}

/** `example`: undefined if the server was started without it. */
export function exampleRoutes(example: ExampleAgent | undefined) {
  return [
    route({
      method: "GET",
      path: "/api/example",
      summary: "Whether this server has the example, and what it asks now",
      tag: "desk",
      scope: "approvals:read",
      answers: {
        200: z.object({
          is_there: z.boolean(),
          approval_id: z.string().nullable().meta({ description: "of the example's question that waits" }),
          workflow_id: z.string().nullable(),
        }),
      },
      async handle({ runtime }) {
        const { approval, workflow } = (await example?.standing(runtime)) ?? {
          approval: null,
          workflow: null,
        };
        return ok({ is_there: example !== undefined, approval_id: approval, workflow_id: workflow });
      },
    }),
    route({
      method: "POST",
      path: "/api/example",
      summary: "Have the example ask once more",
      tag: "desk",
      scope: "workflows:write",
      body: z.strictObject({
        by: z.string().min(1).max(210).optional().meta({
          description: "who asks; taken from the credential, and refused if it names another principal",
        }),
      }),
      answers: { 202: z.object({ workflow_id: z.string() }) },
      mayAsk: async () => true,
      ...(example === undefined ? {} : { asker: example.agent }),
      async handle({ office, who, body }) {
        const by = actingPrincipal(who, body.by);
        return {
          status: 202,
          body: { workflow_id: await requireExample(example).ask(office, { by, via: who.via }) },
        };
      },
    }),
  ];
}

const EXAMPLE = {
  workflow: "example.refund",
  refund: "example.issue_refund",
  agent: "agent:refund-agent",
} as const;

const CASE = {
  customer: "Anna",
  user_id: 42,
  plan: "annual",
  paid_usd: 1200,
  days_since_payment: 10,
  refund_within_days: 14,
} as const;

const SAYS =
  "Anna paid 1200 USD for a year ten days ago and does not use it. Our terms give 14 days. I would pay all of it back.";

/** Idempotent by key: a repeated call finds the line. */
function writeOnce(file: string, key: string, entry: object): void {
  const done = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (!done.includes(`{"key":"${key}",`)) appendFileSync(file, `${JSON.stringify({ key, ...entry })}\n`);
}

function toolsOf(hp: Holdpoint, file: string) {
  const read = hp.gate({
    name: "example.read_case",
    description: "What is known of a customer who wants money back",
    effect: "read",
    input: z.strictObject({ user_id: z.int() }),
    run: () => CASE,
  });
  const refund = hp.gate({
    name: EXAMPLE.refund,
    description: "Pays an amount in USD back to the customer",
    effect: "keyed",
    input: z.strictObject({
      user_id: z.int(),
      amount_usd: z.number().positive().meta({ description: "how much, in USD" }),
      reason: z.string().min(1).max(500),
    }),
    run: ({ user_id, amount_usd }, { idempotencyKey: key }) => {
      writeOnce(file, key, { refunded_usd: amount_usd, user_id });
      return { refunded_usd: amount_usd };
    },
    undo: ({ user_id, amount_usd }, _result, { idempotencyKey: key }) =>
      writeOnce(file, key, { taken_back_usd: amount_usd, user_id }),
  });
  const tell = hp.gate({
    name: "example.send_message",
    description: "Writes to the customer",
    effect: "keyed",
    input: z.strictObject({ user_id: z.int(), text: z.string() }),
    run: ({ user_id, text }, { idempotencyKey: key }) => {
      writeOnce(file, key, { message: text, user_id });
      return { sent: true };
    },
    undo: "nothing",
  });
  return { read, refund, tell };
}

/** `file` gets a line for every effect. */
export function defineExample(hp: Holdpoint, file: string): void {
  const { read, refund, tell } = toolsOf(hp, file);
  const description = "Anna wants 1200 USD back. Over 1000 USD a person decides.";
  hp.workflow(EXAMPLE.workflow, { description }, async (ctx) => {
    const { user_id, paid_usd } = CASE;
    const { agent } = EXAMPLE;
    const known = await ctx.call(read, { user_id }, { agent });
    if (known.status !== "done") return { refunded_usd: 0, why: known.reason };
    const args = { user_id, amount_usd: paid_usd, reason: "Annual plan, paid 10 days ago" };
    const paid = await ctx.call(refund, args, { agent, rationale: SAYS });
    if (paid.status !== "done") return { refunded_usd: 0, why: paid.reason };
    // The amount as people edited it, not as proposed.
    const refunded_usd = paid.result?.refunded_usd ?? paid_usd;
    await ctx.call(tell, { user_id, text: `We have paid ${refunded_usd} USD back to you.` }, { agent });
    return { refunded_usd };
  });
}

const FIRST = "the example's first question";
/** The newest ones; older ones are not checked. */
const PENDING = { view: "approvals", bucket: "pending", order: "newest", limit: 100 } as const;

const isLikeIt = ({ data }: { readonly data: JsonObject }): boolean =>
  data["tool"] === EXAMPLE.refund && data["agent"] === EXAMPLE.agent;

/** The example's workflow that called the action. Other programs may use the same names for a tool and an agent. */
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

async function ask({ runtime, wake }: TenantHost, request: WorkflowRequest): Promise<string> {
  const { start } = workflowVerbs.verbs;
  const { id } = await start.perform({ runtime, how: {} }, { name: EXAMPLE.workflow, ...request });
  wake();
  return id;
}

async function isUntouched(runtime: Runtime): Promise<boolean> {
  const [actions, workflows] = [
    await listActions(runtime, { phase: "any", order: "newest", limit: 1 }),
    await listWorkflows(runtime, { status: "any", limit: 1 }),
  ];
  return actions.items.length === 0 && workflows.items.length === 0;
}

/** Resolves when its approval is pending, or at the timeout. */
async function askFirst(office: TenantHost, withinMs: number): Promise<void> {
  const { runtime } = office;
  if (!(await isUntouched(runtime))) return;
  await ask(office, { requestId: FIRST });
  const signal = AbortSignal.any([runtime.closing, AbortSignal.timeout(withinMs)]);
  for await (const _ of followApprovals(runtime, signal))
    if ((await standing(runtime)).approval !== null) return;
}

type Example = ExampleAgent & { askFirst(office: TenantHost, withinMs: number): Promise<void> };

export const example: Example = { agent: EXAMPLE.agent, standing, ask, askFirst };
