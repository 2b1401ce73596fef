/** The moment that `--at` names: the number of an entry, or a time. */

import { HoldpointError } from "../kernel/errors.ts";
import type { Moment, WorkflowDetails } from "../workflows/read.ts";
import { CommandError } from "./failure.ts";
import { moment } from "./times.ts";

const TIME = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Undefined for what no calendar has, such as the 30th of February. */
export function timeOf(given: string): number | undefined {
  const [, date, clock, fraction = "", zone = ""] = TIME.exec(given.trim()) ?? [];
  if (date === undefined || clock === undefined) return undefined;
  const local = new Date(`${date}T${clock}Z`);
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(`${date}T${clock}`)) return undefined;
  const time = Date.parse(`${date}T${clock}${zone.toUpperCase()}`);
  return Number.isNaN(time) ? undefined : time + Math.floor(Number(`0${fraction}`) * 1_000);
}

function entryAt(given: string, { id, seq }: WorkflowDetails): Moment {
  const number = Number(given);
  if (number >= 1 && number <= seq) return { seq: number };
  throw new CommandError(
    "usage",
    `There is no entry ${given} of ${id}: it has ${seq}.`,
    `Give a number from 1 to ${seq}.`,
  );
}

export function momentOf(given: string, state: WorkflowDetails, now: number): Moment {
  if (/^\d{1,15}$/.test(given)) return entryAt(given, state);
  const time = timeOf(given);
  if (time === undefined)
    throw new CommandError(
      "usage",
      `"${given}" is neither an entry's number nor a time.`,
      `Such as --at 12, or --at ${moment(state.createdAt)}`,
    );
  if (time > now)
    throw new CommandError("usage", `${moment(time)} is still to come.`, "Give a time that has passed.");
  if (time >= state.createdAt) return { time };
  throw new HoldpointError("unknown_id", `The workflow ${state.id} was not there yet at ${moment(time)}.`, {
    next: `It was created at ${moment(state.createdAt)}.`,
  });
}
