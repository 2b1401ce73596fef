/** Stays and tells what is asked and decided, woken by commits of any process. */

import { votesNow } from "../approvals/state.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { Json } from "../core/json.ts";
import { visible } from "../core/visible.ts";
import type { Approval } from "../index.ts";
import { decisionWord, stageCount } from "./approvals/card-parts.ts";
import { type Context, EXIT } from "./command.ts";
import { cut, fit } from "./measure.ts";
import { readList } from "./read-list.ts";
import { moment } from "./times.ts";

const MOST_PREVIEW = 500;
const LONGEST_CHANGE = "edit refused".length;
const NARROWEST = 40;

/** What has to be remembered of an approval to see what changed. */
export type Seen = Pick<Approval, "status" | "binding" | "editRefused" | "stage" | "decideBy"> & {
  readonly votes: number;
  readonly comments: number;
  readonly edit: string | null;
};
type Cells = readonly string[];
export type Change = { readonly change: string; readonly detail: string };

/** What can be told from one look to the next; several steps in between are told as the last one. */
export function changeOf(before: Seen | undefined, now: Approval): Change | undefined {
  if (before?.status !== now.status) {
    if (now.status === "pending") return { change: "asked", detail: askedOf(now) };
    return now.subject === undefined ? endOf(now) : subjectEnd(now);
  }
  if (before.binding !== now.binding) return { change: "revised", detail: argsOf(now) };
  if (now.edit !== null && before.edit !== now.edit.argsDigest)
    return { change: "edited", detail: `${now.edit.by}: ${preview(now.edit.args)}` };
  if (now.editRefused !== null && before.editRefused === null)
    return { change: "edit refused", detail: `${now.editRefused.rule}: ${now.editRefused.reason}` };
  const vote = now.votes.length > before.votes ? now.votes.at(-1) : undefined;
  if (vote !== undefined) return { change: "vote", detail: `${vote.by} ${vote.decision} (${countOf(now)})` };
  return movedOf(before, now) ?? commentOf(before, now);
}

function commentOf(before: Seen, { comments }: Approval): Change | undefined {
  const last = comments.length > before.comments ? comments.at(-1) : undefined;
  return last && { change: "comment", detail: `${last.by}: ${cut(last.text, MOST_PREVIEW).text}` };
}

/** Nobody voted, and yet it is another stage or another deadline. */
function movedOf(before: Seen, now: Approval): Change | undefined {
  if (before.stage !== now.stage) return { change: "escalated", detail: `stage ${stageCount(now)} is asked` };
  if (before.decideBy === now.decideBy || now.decideBy === null) return undefined;
  return { change: "extended", detail: `${now.extensions.at(-1)?.by ?? ""}: until ${moment(now.decideBy)}` };
}

function countOf(now: Approval): string {
  const stage = stageCount(now);
  const count = `${votesNow(now).length}/${now.approvers.quorum}`;
  return stage === undefined ? count : `${count} in stage ${stage}`;
}

export function seenOf({ votes, comments, edit, ...approval }: Approval): Seen {
  const { status, binding, editRefused, stage, decideBy } = approval;
  return {
    status,
    binding,
    editRefused,
    stage,
    decideBy,
    votes: votes.length,
    comments: comments.length,
    edit: edit?.argsDigest ?? null,
  };
}

const because = (reason: string): string => (reason === "" ? "" : `: ${reason}`);

function endOf({ status, ended, decided }: Approval): Change {
  const ending = ended ?? decided;
  return { change: status, detail: `${ending?.by.join(", ") ?? ""}${because(ending?.reason ?? "")}` };
}

function subjectEnd(approval: Approval): Change {
  const { decided, votes } = approval;
  const reason = decided?.reason || (votes.at(-1)?.note ?? "");
  const detail = `${decided?.by.join(", ") ?? ""}${because(reason)}`;
  return { change: decisionWord(approval), detail };
}

/** What the agent says of a checkpoint stands before its outputs. */
function askedOf(approval: Approval): string {
  const { subject, agent, says, reason } = approval;
  if (subject?.kind === "question") return `${agent} asks: ${reason}`;
  if (subject === undefined) return argsOf(approval);
  return says === null ? argsOf(approval) : `${argsOf(approval)} “${cut(says, MOST_PREVIEW).text}”`;
}

function argsOf(approval: Approval): string {
  return `${approval.agent} ${preview(approval.args)}`;
}

function preview(value: Json): string {
  const { text, left } = cut(canonicalJson(value), MOST_PREVIEW);
  return left === 0 ? text : `${text}… ${left} more characters`;
}

function printForPeople(
  { terminal }: Context,
  [at = "", change = "", id = "", tool = "", detail = ""]: Cells,
): void {
  const start = `${at.slice(11, 19)}Z  ${change.padEnd(LONGEST_CHANGE)}  ${id}  ${tool}`;
  const room = terminal.columns - start.length - 2;
  const apart = room < Math.min(NARROWEST, detail.length);
  const words = terminal.strange(fit(detail, apart ? terminal.columns - 10 : room));
  terminal.line(`${start}${apart ? `\n${" ".repeat(10)}` : "  "}${words}`);
}

function print(context: Context, { id, tool, status }: Approval, { change, detail }: Change): void {
  const { terminal, json } = context;
  const at = moment(Date.now());
  const cells = [at, change, visible(id), visible(tool), visible(detail)];
  if (json) terminal.json({ at, change, id, status, tool, detail });
  else if (terminal.interactive) printForPeople(context, cells);
  else terminal.line(cells.join("\t"));
}

async function pendingIds({ hp }: Context): Promise<readonly string[]> {
  const { items } = await readList(Number.POSITIVE_INFINITY, (cursor) => hp.approvals.list(cursor));
  return items.map(({ id }) => id);
}

export async function watchApprovals(context: Context): Promise<number> {
  const { hp, terminal } = context;
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.once("SIGINT", stop);
  const signal = AbortSignal.any([interrupted.signal, terminal.closed]);
  const seen = new Map<string, Seen>();
  const look = async (id: string) => {
    const approval = await hp.approvals.get(id);
    const change = changeOf(seen.get(id), approval);
    seen.set(id, seenOf(approval));
    if (change !== undefined) print(context, approval, change);
  };
  try {
    for await (const ids of hp.approvals.follow(signal)) {
      // Nothing is seen before the first turn, which is empty.
      const turn = seen.size === 0 && ids.length === 0 ? await pendingIds(context) : ids;
      for (const id of turn) await look(id);
      if (ids.length === 0 && terminal.interactive)
        terminal.line(terminal.paint("dim", `Watching ${visible(context.folder)}; Ctrl-C ends it.`));
    }
    return EXIT.ok;
  } finally {
    process.removeListener("SIGINT", stop);
  }
}
