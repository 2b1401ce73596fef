/** What was tried and what is known of it, out of the history: started, sent again, asked after, ended. */
import type { JournalLine } from "../../api/actions.ts";
import { type Fields, fieldsOf } from "../../format/fields-of.ts";

export type Attempt = {
  readonly words: string;
  readonly detail: string;
  readonly by: string;
  readonly at: string;
  readonly seq: number;
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const TOLD: { readonly [type: string]: (body: Fields) => string } = {
  "action.held": () => "Held: not started yet",
  "action.refused": () => "Refused",
  "effect.started": (body) => (body["reportBy"] === undefined ? "Sent" : "Permitted: its agent performs it"),
  "effect.begun": () => "The holder of the permit began",
  "effect.handed_out": (body) => `The permit was handed out for the ${body["times"]}. time`,
  "effect.retried": () => "Sent again with the same key",
  "effect.applied": () => "It happened",
  "effect.not_applied": () => "It did not happen",
  "effect.in_doubt": () => "No answer that proves anything: in doubt",
  "effect.probed": (body) => `The receiver was asked: ${textOf(body["answer"]).replaceAll("_", " ")}`,
  "effect.resolved": (body) => `Settled as ${textOf(body["status"]).replaceAll("_", " ")}`,
  "effect.reported_late": (body) => `Reported late as ${textOf(body["status"]).replaceAll("_", " ")}`,
};

export function attemptsOf(action: string, entries: readonly JournalLine[]): readonly Attempt[] {
  return entries.flatMap(({ stream, type, body, at, seq }) => {
    const tell = TOLD[type];
    if (stream !== `action/${action}` || tell === undefined) return [];
    const fields = fieldsOf(body);
    const by = textOf(fields["by"]);
    const detail = [textOf(fields["reason"]), textOf(fields["evidence"])]
      .filter((text) => text !== "")
      .join(" · ");
    return [{ words: tell(fields), detail, by, at, seq }];
  });
}
