/** Ids as people type them: complete, or a unique prefix. */

import { HoldpointError, isHoldpointError, WORKFLOW_ID_HINT } from "../../kernel/errors.ts";
import { LISTED_KINDS, type ListedPrefix, type ListName } from "../../kernel/registry.ts";
import { CommandError, type Context } from "./command.ts";

const WHOLE = 26;
const FEWEST = 6;

type KindOfId = {
  readonly noun: string;
  /** Where they are found. */
  readonly group: ListName;
  /** The command that lists them. */
  readonly listed?: string;
  readonly next?: string;
};

/** Where the command that lists a kind is not `<group> --all`. */
const LISTS: { readonly [group in ListName]?: Pick<KindOfId, "listed" | "next"> } = {
  actions: {},
  intents: { listed: "intents" },
  messages: { listed: "notifications" },
  workflows: { next: WORKFLOW_ID_HINT },
};

export type ResolvedPrefix = ListedPrefix | "eff";
type PartialId = { readonly prefix: ResolvedPrefix; readonly rest: string };

/** Effects are found by their actions: both have the same characters after the underscore. */
const isKnownPrefix = (prefix: string): prefix is ResolvedPrefix =>
  prefix === "eff" || LISTED_KINDS.some((one) => one.prefix === prefix);

export function idKind(prefix: ResolvedPrefix): KindOfId {
  const found = LISTED_KINDS.find((one) => one.prefix === prefix);
  const { kind, resource: group } = found ?? { kind: "effect", resource: "actions" as const };
  const { [group]: facts = { listed: `${group} --all` } } = LISTS;
  return { noun: `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`, group, ...facts };
}

function unknownId(prefix: ResolvedPrefix, what: string): HoldpointError {
  const { listed, next = listed && `Check the id; \`holdpoint ${listed}\` lists them.` } = idKind(prefix);
  return new HoldpointError("unknown_id", what, next === undefined ? {} : { next });
}

function read(given: string): PartialId | undefined {
  const [, prefix = "", rest] = /^([a-z]+)_([0-9A-Za-z]+)$/.exec(given.trim()) ?? [];
  return rest === undefined || !isKnownPrefix(prefix) ? undefined : { prefix, rest: rest.toUpperCase() };
}

async function complete({ hp }: Context, { prefix, rest }: PartialId): Promise<string> {
  const id = `${prefix}_${rest}`;
  if (rest.length === WHOLE) return id;
  if (rest.length < FEWEST || rest.length > WHOLE)
    throw unknownId(
      prefix,
      `${id} is not an id: after ${prefix}_ come ${WHOLE} characters, or at least the first ${FEWEST}.`,
    );
  const found = await hp[idKind(prefix).group].find(prefix === "eff" ? `act_${rest}` : id);
  const [first, ...others] = found.map((one) => one.replace(/^[a-z]+/, prefix));
  if (first === undefined) throw unknownId(prefix, `No id begins with ${id}.`);
  if (others.length === 0) return first;
  const what = `${id} is the beginning of ${found.length}${found.length === 10 ? " or more" : ""} ids.`;
  throw new CommandError("ambiguous_id", what, `Type more of it: ${[first, ...others].join(" ")}`);
}

/** Resolves the id of one kind of thing. */
export async function resolveId(context: Context, prefix: ResolvedPrefix, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === prefix) return complete(context, id);
  if (given.trim() === `${prefix}_`)
    throw unknownId(
      prefix,
      `"${prefix}_" is too short: type at least ${FEWEST} characters after ${prefix}_.`,
    );
  const { noun } = idKind(prefix);
  const what = given === "" ? `The id of ${noun} is needed` : `"${given}" is not the id of ${noun}`;
  throw unknownId(prefix, `${what}: those begin with ${prefix}_.`);
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
  throw unknownId("wf", `"${given}" is no workflow: it is neither an id, wf_…, nor a request id.`);
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
  const { action, intent, workflow } = await context.hp.approvals.get(id);
  if (intent !== null)
    throw new HoldpointError("unknown_id", `There is no action behind ${id}: it is about an intent.`, {
      next: `See: holdpoint intents get ${intent}`,
    });
  if (action === null) throw notAnAction(id, String(workflow));
  return action;
}
