/** Handing a seat in an approval to somebody else, and taking it back. */
import { type DelegateAnswer, type DelegateCommand, delegate } from "../core/approval/delegate.ts";
import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import { isPerson, isPrincipal } from "../core/principal.ts";
import { refusalData } from "../core/refusals.ts";
import { approvalStream, ROSTER } from "../core/stream.ts";
import { checkVia, wordingOf } from "./approvals.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";
import { keptBeside } from "./secret-guesses.ts";

export type Handing = {
  /** `person:<name>`, who may decide it now. */
  readonly by: string;
  /** Who decides in their place. */
  readonly to: string;
  readonly reason: string;
  readonly via?: string;
};

function checkPerson(who: unknown): void {
  if (!isPrincipal(who) || !isPerson(who))
    throw new HoldpointError("invalid_input", `"${shown(who)}" is not a person: write person:<name>.`);
}

/** An agent or a service is refused by the rules, and that is recorded. */
function checkRecipient(to: unknown): void {
  if (!isPrincipal(to)) checkPerson(to);
}

function checkAnswer(id: string, answer: DelegateAnswer): void {
  switch (answer.kind) {
    case "delegated":
    case "withdrawn":
    case "same":
      return;
    case "delegate_refused":
      throw new HoldpointError("not_eligible", `The seat in ${id} stays where it is: ${answer.reason}.`, {
        details: { approval: id, status: answer.status },
        data: refusalData("request", answer.isRecorded, "the approval did not change"),
        next: "Ask somebody else to decide, or decide yourself.",
      });
    case "not_possible":
      throw new HoldpointError("wrong_state", `The seat in ${id} was not moved: ${answer.reason}.`, {
        details: { status: answer.status },
      });
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  }
}

async function run(runtime: Runtime, command: DelegateCommand): Promise<void> {
  const { approval, by, reason: text } = command;
  const reason = keptBeside(runtime, await wordingOf(runtime, approval, { field: "reason", text, by }));
  const needs = { write: [approvalStream(command.approval)], read: [ROSTER] };
  const answer = await runCommand(runtime, needs, (draft) => delegate(draft, { ...command, reason }));
  checkAnswer(command.approval, answer);
}

/** From now on `to` decides in the place of `by`, in the stage that is asked now. */
export async function delegateApproval(runtime: Runtime, id: string, handing: Handing): Promise<void> {
  const { by, to, reason, via } = handing;
  checkPerson(by);
  checkRecipient(to);
  await run(runtime, { approval: id, by, to, reason, via: checkVia(via) });
}

/** While nobody has decided with it. */
export async function takeBackApproval(
  runtime: Runtime,
  id: string,
  { by, reason, via }: Omit<Handing, "to">,
): Promise<void> {
  checkPerson(by);
  await run(runtime, { approval: id, by, to: null, reason, via: checkVia(via) });
}
