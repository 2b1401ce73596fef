/** Several approvals at once: every card is shown, and the person types how many there are. */

import { MOST_AT_ONCE } from "../approvals/contract.ts";
import { HoldpointError } from "../core/errors.ts";
import { visible } from "../core/visible.ts";
import type { Approval, BatchAnswer } from "../index.ts";
import { type Context, EXIT, flag } from "./command.ts";
import { Left, prompt } from "./demos/ask.ts";
import { CommandError } from "./failure.ts";
import { hasSuggestion } from "./question-card.ts";
import { readList } from "./read-list.ts";
import { approvalId } from "./resolve-id.ts";
import { showApproval } from "./show.ts";

const usage = (what: string, next: string): CommandError => new CommandError("usage", what, next);

async function allOf({ hp }: Context, tool: string): Promise<readonly string[]> {
  const { items } = await readList(MOST_AT_ONCE, async (cursor) => {
    const page = await hp.approvals.list(cursor);
    return { items: page.items.filter((one) => one["tool"] === tool), next: page.next };
  });
  return items.map(({ id }) => id);
}

async function idsOf(context: Context): Promise<readonly string[]> {
  const tool = flag(context, "all-of");
  if (tool !== undefined && context.words.length > 0)
    throw usage("approve takes ids or --all-of, not both.", "Try: holdpoint approve --help");
  const ids = tool === undefined ? [] : [...(await allOf(context, tool))];
  for (const given of context.words) ids.push(await approvalId(context, given));
  if (tool !== undefined && ids.length === 0)
    throw new HoldpointError("unknown_id", `Nothing waits for "${visible(tool)}".`, {
      next: "`holdpoint approvals` lists what waits.",
    });
  return [...new Set(ids)];
}

function checkOne({ id, subject, ...approval }: Approval): void {
  if (subject?.kind === "question" && !hasSuggestion(approval))
    throw usage(`${id} is a question that has to be answered.`, `Try: holdpoint answer ${id} '<json>'`);
}

/** A count that was typed: of the cards that were shown, not of what happens to be there. */
async function confirm(context: Context, count: number): Promise<boolean> {
  const given = flag(context, "confirm");
  if (given !== undefined) {
    if (given.trim() === String(count)) return true;
    throw usage(`There are ${count}, not ${visible(given)}.`, `Look at them, then: --confirm ${count}`);
  }
  if (process.stdin.isTTY !== true || !context.terminal.interactive || context.json)
    throw usage(`These are ${count} approvals.`, `Look at them, then say how many: --confirm ${count}`);
  try {
    return (await prompt(`Type ${count} to approve all ${count}: `)) === String(count);
  } catch (error) {
    if (error instanceof Left) return false;
    throw error;
  }
}

function tell({ terminal, json }: Context, answers: readonly BatchAnswer[]): void {
  if (json) {
    const rows = answers.map((one) =>
      one.ok
        ? { id: one.id, ok: true, status: one.decided.status }
        : { id: one.id, ok: false, code: one.error.code, message: one.error.message },
    );
    terminal.json({ answers: rows });
    return;
  }
  for (const one of answers) {
    const word = one.ok
      ? terminal.paint("green", visible(one.decided.status))
      : terminal.paint("red", "refused");
    terminal.line(`${visible(one.id)}  ${word}${one.ok ? "" : `: ${visible(one.error.message)}`}`);
  }
}

async function showAll(context: Context, approvals: readonly Approval[]): Promise<void> {
  if (context.json) return;
  for (const approval of approvals) {
    await showApproval(context, approval);
    context.terminal.line();
  }
}

export async function approveMany(context: Context): Promise<number> {
  const { hp, person: by, terminal } = context;
  for (const name of ["edit", "binding"])
    if (flag(context, name) !== undefined)
      throw usage(`--${name} is for one approval.`, "Try: holdpoint approve --help");
  const ids = await idsOf(context);
  const approvals = await Promise.all(ids.map((id) => hp.approvals.get(id)));
  for (const approval of approvals) checkOne(approval);
  await showAll(context, approvals);
  if (!(await confirm(context, approvals.length))) {
    terminal.line("Nothing was decided.");
    return EXIT.refused;
  }
  const note = flag(context, "note");
  const said = { decision: "approve" as const, ...(note === undefined ? {} : { note }) };
  const items = approvals.map(({ id, binding }) => ({ id, binding, ...said }));
  const answers = await hp.approvals.decideAll(items, { by, via: "cli" });
  tell(context, answers);
  return answers.every(({ ok }) => ok) ? EXIT.ok : EXIT.refused;
}
