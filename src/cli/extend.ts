import { visible } from "../core/visible.ts";
import { type Command, EXIT, word } from "./command.ts";
import { durationOf } from "./duration.ts";
import { CommandError } from "./failure.ts";
import { timeOf } from "./moment-of.ts";
import { approvalId } from "./resolve-id.ts";
import { ago } from "./times.ts";

function moreTime(given: string): { readonly byMs: number } | { readonly until: number } {
  const byMs = durationOf(given);
  if (byMs !== undefined && byMs > 0) return { byMs };
  const until = timeOf(given);
  if (until !== undefined) return { until };
  throw new CommandError(
    "usage",
    `"${given}" is neither a length of time nor a time.`,
    "Such as 30min, 2h, 1d, or 2026-05-04T18:00:00Z.",
  );
}

export const extend: Command = {
  name: "extend",
  words: ["<id>", "<duration>"],
  summary: "give people more time to decide",
  details: [
    "The duration is added to the deadline: 45s, 30min, 2h, 1d, 1h30min. A time such as 2026-05-04T18:00:00Z is the new deadline.",
    "Only somebody who may decide it now can do so. Votes that were cast stay.",
  ],
  flags: {},
  async run(context) {
    const { hp, terminal, person: by, now } = context;
    const more = moreTime(word(context, 1));
    const id = await approvalId(context, word(context));
    const { decideBy } = await hp.approvals.extend(id, { by, via: "cli", ...more });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(`Extended: ${id}, ${visible(approval.tool)}. Decide by ${ago(decideBy, now)}.`);
    return EXIT.ok;
  },
};
