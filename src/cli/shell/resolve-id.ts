/** Ids as people type them: complete, or a unique prefix. */

import type { Contract } from "../../kernel/contract.ts";
import { HoldpointError, isHoldpointError, WORKFLOW_ID_HINT } from "../../kernel/errors.ts";
import type { Context } from "./command.ts";
import { CommandError } from "./failure.ts";

const WHOLE = 26;
const FEWEST = 6;
const FORM = /^(alr|apr|act|eff|end|grt|int|key|msg|wf)_([0-9A-Za-z]+)$/;

/** Hints on where ids of a kind are listed. */
const LISTS: { readonly [prefix: string]: string } = {
  wf: WORKFLOW_ID_HINT,
  alr: "Check the id; `holdpoint alerts --all` lists them.",
  grt: "Check the id; `holdpoint grants --all` lists them.",
};
const listedWhere = (prefix: string): { readonly next?: string } => {
  const next = LISTS[prefix];
  return next === undefined ? {} : { next };
};

type IdPrefix = { readonly prefix: string; readonly rest: string };

function read(given: string): IdPrefix | undefined {
  const [, prefix, rest] = FORM.exec(given.trim()) ?? [];
  return prefix === undefined || rest === undefined ? undefined : { prefix, rest: rest.toUpperCase() };
}

/** Effects are found by their actions: both have the same characters after the underscore. */
function find({ hp }: Context, { prefix, rest }: IdPrefix): Promise<readonly string[]> {
  if (prefix === "apr") return hp.approvals.find(`apr_${rest}`);
  if (prefix === "grt") return hp.grants.find(`grt_${rest}`);
  if (prefix === "int") return hp.intents.find(`int_${rest}`);
  if (prefix === "key") return hp.keys.find(`key_${rest}`);
  if (prefix === "alr") return hp.alerts.find(`alr_${rest}`);
  if (prefix === "end") return hp.endpoints.find(`end_${rest}`);
  if (prefix === "msg") return hp.messages.find(`msg_${rest}`);
  return prefix === "wf" ? hp.workflows.find(`wf_${rest}`) : hp.actions.find(`act_${rest}`);
}

async function complete(context: Context, given: IdPrefix): Promise<string> {
  const { prefix, rest } = given;
  const id = `${prefix}_${rest}`;
  if (rest.length === WHOLE) return id;
  if (rest.length < FEWEST || rest.length > WHOLE)
    throw new HoldpointError(
      "unknown_id",
      `${id} is not an id: after ${prefix}_ come ${WHOLE} characters, or at least the first ${FEWEST}.`,
      listedWhere(prefix),
    );
  const found = await find(context, given);
  const [first, ...others] = found.map((one) => one.replace(/^[a-z]+/, prefix));
  if (first === undefined)
    throw new HoldpointError("unknown_id", `No id begins with ${id}.`, listedWhere(prefix));
  if (others.length === 0) return first;
  const what = `${id} is the beginning of ${found.length}${found.length === 10 ? " or more" : ""} ids.`;
  throw new CommandError("ambiguous_id", what, `Type more of it: ${[first, ...others].join(" ")}`);
}

export async function resolveApprovalId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "apr") return complete(context, id);
  throw new HoldpointError("unknown_id", `"${given}" is not the id of an approval: those begin with apr_.`);
}

type Kind = { readonly prefix: string; readonly contract: Pick<Contract, "owner" | "name"> };

/** Resolves the id of a resource that has a contract. */
export async function resolveResourceId(
  context: Context,
  { prefix, contract }: Kind,
  given: string,
): Promise<string> {
  const id = read(given);
  if (id?.prefix === prefix) return complete(context, id);
  const { owner, name } = contract;
  const what = given === "" ? `The id of a ${owner} is needed` : `"${given}" is not the id of a ${owner}`;
  const next = `Check the id; \`holdpoint ${name} --all\` lists them.`;
  throw new HoldpointError("unknown_id", `${what}: those begin with ${prefix}_.`, { next });
}

export async function resolveIntentId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "int") return complete(context, id);
  const what = given === "" ? "The id of an intent is needed" : `"${given}" is not the id of an intent`;
  throw new HoldpointError("unknown_id", `${what}: those begin with int_.`, {
    next: "`holdpoint intents` lists them.",
  });
}

export async function resolveKeyId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "key") return complete(context, id);
  const what = given === "" ? "The id of a key is needed" : `"${given}" is not the id of a key`;
  throw new HoldpointError("unknown_id", `${what}: those begin with key_.`, {
    next: "`holdpoint keys` lists them.",
  });
}

export async function resolveAlertId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "alr") return complete(context, id);
  const what = `"${given}" is not the id of an alert: those begin with alr_.`;
  throw new HoldpointError("unknown_id", what, listedWhere("alr"));
}

export async function resolveEndpointId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "end") return complete(context, id);
  throw new HoldpointError("unknown_id", `"${given}" is not the id of an endpoint: those begin with end_.`, {
    next: "Check the id; `holdpoint endpoints --all` lists them.",
  });
}

export async function resolveMessageId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "msg") return complete(context, id);
  throw new HoldpointError("unknown_id", `"${given}" is not the id of a message: those begin with msg_.`, {
    next: "Check the id; `holdpoint notifications` lists them.",
  });
}

/** A workflow by its id, a prefix of it, or its request id. */
async function namedWorkflow(context: Context, given: string): Promise<string | undefined> {
  const id = read(given);
  if (id !== undefined) return id.prefix === "wf" ? complete(context, id) : undefined;
  const text = given.trim();
  return text === "" || text.startsWith("wf_") ? undefined : (await context.hp.workflows.find(text))[0];
}

export async function resolveWorkflowId(context: Context, given: string): Promise<string> {
  const id = await namedWorkflow(context, given);
  if (id !== undefined) return id;
  throw new HoldpointError(
    "unknown_id",
    `"${given}" is no workflow: it is neither an id, wf_…, nor a request id.`,
    {
      next: WORKFLOW_ID_HINT,
    },
  );
}

async function isAction({ hp }: Context, requestId: string): Promise<boolean> {
  try {
    await hp.actions.get(requestId);
    return true;
  } catch (error) {
    if (isHoldpointError(error, "unknown_id")) return false;
    throw error;
  }
}

/** Completes ids of approvals, actions, effects and workflows. Other text is a request id, kept if an action has it. */
export async function resolveAnyId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id !== undefined) return complete(context, id);
  const workflow = await namedWorkflow(context, given);
  if (workflow === undefined) return given;
  if (!(await isAction(context, given))) return workflow;
  const what = `"${given}" is the request id of an action and of a workflow.`;
  const { id: action } = await context.hp.actions.get(given);
  throw new CommandError("ambiguous_id", what, `Say which: ${action} ${workflow}`);
}

function notAnAction(id: string, workflow: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no action behind ${id}: it is about a workflow.`, {
    next: `Its actions are listed by: holdpoint show ${workflow}`,
  });
}

/** An approval's id resolves to its action. */
export async function resolveActionId(context: Context, given: string): Promise<string> {
  const id = await resolveAnyId(context, given);
  if (id.startsWith("wf_")) throw notAnAction(id, id);
  if (!id.startsWith("apr_")) return id;
  const { action, subject } = await context.hp.approvals.get(id);
  if (subject?.kind === "intent")
    throw new HoldpointError("unknown_id", `There is no action behind ${id}: it is about an intent.`, {
      next: `See: holdpoint intents get ${subject.intent}`,
    });
  if (subject !== undefined) throw notAnAction(id, subject.workflow);
  return action;
}
