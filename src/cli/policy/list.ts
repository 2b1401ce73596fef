import { visible } from "../../core/visible.ts";
import type { KeptVersion } from "../../engine/backtest/kept-policies.ts";
import { type Command, type Context, EXIT } from "../command.ts";
import { fit } from "../measure.ts";
import { printTable } from "../table.ts";
import { moment, span } from "../times.ts";

const SHORT = 12;
const MOST_NAME = 32;
const HEADS = ["POLICY", "DIGEST", "IN FORCE SINCE", "FOR", "BY", "FROM"];

function cellsForPeople(version: KeptVersion, now: number): readonly string[] {
  const { name, digest, at, until, by, source } = version;
  const length = span((until ?? now) - at);
  return [
    fit(visible(name), MOST_NAME),
    visible(digest.slice(0, SHORT)),
    moment(at),
    until === null ? `${length} (now)` : length,
    visible(by),
    visible(source),
  ];
}

/** Columns as documented in the reference. */
function cellsForPipe({ name, digest, at, until, by, source }: KeptVersion): readonly string[] {
  const end = until === null ? "-" : moment(until);
  return [visible(name), visible(digest), moment(at), end, visible(by), visible(source)];
}

function print({ terminal, now }: Context, versions: readonly KeptVersion[]): void {
  if (versions.length === 0) {
    const say = terminal.interactive ? terminal.line : terminal.note;
    say("No policy document was ever in force here; tools may have policies of their own in code.");
  } else if (terminal.interactive)
    printTable(
      terminal,
      HEADS,
      versions.map((version) => cellsForPeople(version, now)),
    );
  else for (const version of versions) terminal.line(cellsForPipe(version).join("\t"));
}

export const policyList: Command = {
  name: "policy list",
  words: [],
  summary: "the policies that were in force: each version, since when and by whom",
  details: [
    "In a pipe each line is tab-separated: name, digest, in force since, until (- while it is), by, file.",
  ],
  flags: {},
  async run(context) {
    const versions = await context.hp.policies.list();
    if (context.json) for (const version of versions) context.terminal.json(version);
    else print(context, versions);
    return EXIT.ok;
  },
};
