/** More time for a pending approval. A length is turned into a moment before it is asked for, so that no retry gives it twice. */
import { type ExtendAnswer, type ExtendCommand, extend } from "../core/approval/extend.ts";
import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import { isPerson, isPrincipal } from "../core/principal.ts";
import { refusalData } from "../core/refusals.ts";
import { LONGEST_MS } from "../core/stages.ts";
import { approvalStream, ROSTER } from "../core/stream.ts";
import { readState } from "./read-state.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";

export type MoreTime = {
  /** `person:<name>`, who may decide it now. */
  readonly by: string;
  /** By how much the deadline moves. */
  readonly byMs?: number;
  /** Or until when, in milliseconds since 1970. */
  readonly until?: number;
  readonly via?: string;
};

type Place = Pick<Runtime, "store" | "tenant">;
type Wanted = Pick<ExtendCommand, "until" | "seen">;

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function checkMoreTime({ by, byMs, until, via }: MoreTime): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${shown(by)}" is not a person: write person:<name>.`);
  if ((byMs === undefined) === (until === undefined))
    throw new HoldpointError("invalid_input", "More time is either byMs or until.");
  if (byMs !== undefined && !(isTime(byMs) && byMs <= LONGEST_MS))
    throw new HoldpointError("invalid_input", "byMs is a whole number of milliseconds, at least 1.");
  if (until !== undefined && !(isTime(until) && until <= LONGEST_MS))
    throw new HoldpointError(
      "invalid_input",
      `until is a moment in milliseconds since 1970, ${LONGEST_MS} at the latest.`,
    );
  if (via !== undefined && !/^[a-z][a-z0-9_.:-]{0,63}$/.test(via))
    throw new HoldpointError(
      "invalid_input",
      "A channel is a word of small letters and digits, such as cli.",
    );
}

const notPossible = (id: string, reason: string, status: string): HoldpointError =>
  new HoldpointError("wrong_state", `The approval ${id} was not given more time: ${reason}.`, {
    details: { status },
  });

async function wantedOf(place: Place, id: string, { byMs, until }: MoreTime): Promise<Wanted> {
  const approval = await readState(place, approvalStream(id));
  if (approval.status === "none")
    throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  if (until !== undefined) return { until, seen: null };
  const { decideBy, status } = approval;
  if (decideBy === null) throw notPossible(id, "it has no deadline", status);
  return { until: decideBy + (byMs ?? 0), seen: decideBy };
}

function decideByOf(id: string, answer: ExtendAnswer): number {
  switch (answer.kind) {
    case "extended":
    case "same":
      return answer.decideBy;
    case "extend_refused":
      throw new HoldpointError("not_eligible", `${id} was not given more time: ${answer.reason}.`, {
        details: { approval: id },
        data: refusalData("request", answer.isRecorded, "the approval did not change"),
      });
    case "not_possible":
      throw notPossible(id, answer.reason, answer.status);
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no approval ${id}.`);
  }
}

/** Answers the new deadline. */
export async function extendApproval(
  runtime: Runtime,
  id: string,
  given: MoreTime,
): Promise<{ readonly decideBy: number }> {
  checkMoreTime(given);
  const { by, via = "embedded" } = given;
  const needs = { write: [approvalStream(id)], read: [ROSTER] };
  const once = async () => {
    const command = { approval: id, by, via, ...(await wantedOf(runtime, id, given)) };
    return runCommand(runtime, needs, (draft) => extend(draft, command));
  };
  const answer = await once();
  // The deadline that was read had passed, and the next one is known only now.
  const moved = answer.kind === "not_possible" && answer.status === "pending" && given.byMs !== undefined;
  return { decideBy: decideByOf(id, moved ? await once() : answer) };
}
