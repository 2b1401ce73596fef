/** Ids as people type them: whole, or a beginning that only one has. */
import { HoldpointError } from "../core/errors.ts";
import type { Context } from "./command.ts";
import { CommandError } from "./failure.ts";

const WHOLE = 26;
const FEWEST = 6;
const FORM = /^(apr|act|eff)_([0-9A-Za-z]+)$/;

type Given = { readonly prefix: string; readonly rest: string };

function read(given: string): Given | undefined {
  const [, prefix, rest] = FORM.exec(given.trim()) ?? [];
  return prefix === undefined || rest === undefined ? undefined : { prefix, rest: rest.toUpperCase() };
}

async function complete({ hp }: Context, { prefix, rest }: Given): Promise<string> {
  const id = `${prefix}_${rest}`;
  if (rest.length === WHOLE) return id;
  if (rest.length < FEWEST || rest.length > WHOLE)
    throw new HoldpointError(
      "unknown_id",
      `${id} is not an id: after ${prefix}_ come ${WHOLE} characters, or at least the first ${FEWEST}.`,
    );
  const found = prefix === "apr" ? await hp.approvals.find(id) : await hp.actions.find(`act_${rest}`);
  const [first, ...others] = found.map((one) => one.replace(/^[a-z]+/, prefix));
  if (first === undefined) throw new HoldpointError("unknown_id", `No id begins with ${id}.`);
  if (others.length === 0) return first;
  const what = `${id} is the beginning of ${found.length}${found.length === 10 ? " or more" : ""} ids.`;
  throw new CommandError("ambiguous_id", what, `Type more of it: ${[first, ...others].join(" ")}`);
}

export async function approvalId(context: Context, given: string): Promise<string> {
  const id = read(given);
  if (id?.prefix === "apr") return complete(context, id);
  throw new HoldpointError("unknown_id", `"${given}" is not the id of an approval: those begin with apr_.`);
}

/** Whole ids of approvals, actions and effects; anything else is taken for a request id. */
export async function anyId(context: Context, given: string): Promise<string> {
  const id = read(given);
  return id === undefined ? given : complete(context, id);
}

/** An approval's id stands for its action. */
export async function actionId(context: Context, given: string): Promise<string> {
  const id = await anyId(context, given);
  return id.startsWith("apr_") ? (await context.hp.approvals.get(id)).action : id;
}
