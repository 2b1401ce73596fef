/** Starts a workflow by its name: whichever node has its definition takes it up, and says what that adds. */

import type { Creation } from "../../core/workflow/create.ts";
import { requestWorkflow } from "../../core/workflow/request.ts";
import { plainJson } from "../../effects/arguments.ts";
import { refuseUnnamed } from "../../effects/call-context.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { countNodesWith } from "../../runtime/epochs.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";
import { checkPrincipal } from "../outside/check-outside.ts";

import { MOST_ATTEMPTS, termsOf } from "./create.ts";
import type { RunOptions } from "./definition.ts";
import { checkName } from "./operation.ts";
import { checkRunOptions, SPAWN } from "./workflows.ts";

export type WorkflowRequest = Pick<RunOptions, "requestId" | "approvalRequired" | "budget"> & {
  /** Who asks for it, and so posts it: the program itself unless set. */
  readonly by?: string;
  /** Principals for whom it is done: none of them decides about it. */
  readonly actsFor?: readonly string[];
};

export type Requested = {
  readonly id: string;
  /** False: the request id had led to it before. */
  readonly isNew: boolean;
  /** How many nodes that are there now say that they have the definition; null where that cannot be told. */
  readonly nodes: number | null;
};

const FIELDS = ["requestId", "approvalRequired", "budget", "by", "actsFor"];

/** A person who asks is the poster, who may decide unless duties are separated. A program is part of whom it is done for. */
function requesterOf(runtime: Runtime, by: string, actsFor: readonly string[]): readonly string[] {
  const asks = isPerson(by) ? [] : [by];
  const self = by === runtime.agent ? runtime.requester : asks;
  return [...new Set([...self, ...actsFor])];
}

function actsForOf(given: unknown): readonly string[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return rejectInput("actsFor is a list of principals.");
  return given.map((one: unknown) => checkPrincipal("Each of actsFor", one));
}

/** What only the definition knows is as if it said nothing, until it does. */
function creationOf(runtime: Runtime, name: string, input: unknown, request: WorkflowRequest): Creation {
  const by = checkPrincipal("Whoever asks for a workflow", request.by ?? runtime.agent);
  const body = {
    name,
    ...{ description: "", version: null, escrow: null, complexity: null, checkpoints: [] },
    input: plainJson(input),
    agent: runtime.agent,
    requester: requesterOf(runtime, by, actsForOf(request.actsFor)),
    parties: { poster: by, executor: null, supervisor: null },
    ...{ attempts: MOST_ATTEMPTS, rollbackEnabled: false, onIrreversible: "fail" as const },
    ...termsOf(request),
    ...{ parent: null, fork: null },
  } as const;
  return { workflow: freshId(runtime, "wf"), requestId: request.requestId ?? null, epoch: null, body };
}

function refused(name: string, { requestId }: WorkflowRequest, workflow: string): HoldpointError {
  return new HoldpointError(
    "request_conflict",
    `The request id "${requestId}" names another workflow, ${workflow}.`,
    {
      details: { workflow },
      data: "Nothing was started.",
      next: `Use a new request id for a new "${name}", or ask for the same as before.`,
    },
  );
}

export async function requestByName(
  runtime: Runtime,
  named: unknown,
  input: unknown,
  given: WorkflowRequest & Via,
): Promise<Requested> {
  const { via, ...request } = given;
  const name = checkName("workflow", named);
  const {
    by: _by,
    actsFor: _actsFor,
    ...terms
  } = checkFields("What a workflow is started with", request, FIELDS);
  checkRunOptions(terms);
  refuseUnnamed(`The workflow "${name}" was started`, request.requestId, SPAWN);
  const creation = creationOf(runtime, name, input, request);
  // What may be begun in a store that was restored is for a person to say first.
  await runtime.history.refuseRestored();
  await runtime.reach("before_propose");
  const by = creation.body.parties.poster ?? runtime.agent;
  const made = await runCommand(runtime, { write: [workflowStream(creation.workflow)] }, (draft) =>
    requestWorkflow(draft, creation, { by, ...channelField(via === undefined ? {} : { via }) }),
  );
  await runtime.reach("after_propose");
  if (made.kind === "closed")
    throw new HoldpointError(
      "tenant_closed",
      `The tenant ${runtime.tenant} was closed: nothing starts in it.`,
    );
  if (made.kind === "conflict") throw refused(name, request, made.workflow);
  return { id: made.workflow, isNew: made.kind === "created", nodes: await countNodesWith(runtime, name) };
}
