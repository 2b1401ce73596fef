import { visible } from "../../kernel/text.ts";
import type { ListedVersion } from "../../policy/versions.ts";
import { type Command, type Context, EXIT } from "../command.ts";
import { fit } from "../measure.ts";
import { shortDigest } from "../policy-words.ts";
import { printTable } from "../table.ts";
import { moment, span } from "../times.ts";

const MOST_NAME = 32;
const HEADS = ["POLICY", "DIGEST", "IN FORCE SINCE", "UNTIL", "BY", "FROM"];

/** The program that judges by it, or the last that did; before any has, the one that put it in force. */
export function programText({ programs, by }: Pick<ListedVersion, "programs" | "by">): string {
  const running = programs.filter(({ runs }) => runs);
  const [one] = running.length > 0 ? running : programs;
  if (one === undefined) return by;
  const more = running.length < 2 ? "" : ` and ${running.length - 1} more`;
  return `${one.by} (${one.process})${more}`;
}

export function untilText({ standing, until, at }: ListedVersion, now: number): string {
  if (standing === "used") return `now, for ${span(now - at)}`;
  if (until !== null) return moment(until);
  return standing === "ended" ? "its program died" : "no program yet";
}

function cellsForPeople(version: ListedVersion, now: number): readonly string[] {
  const { name, digest, at, source } = version;
  return [
    fit(visible(name), MOST_NAME),
    visible(shortDigest(digest)),
    moment(at),
    untilText(version, now),
    visible(programText(version)),
    visible(source),
  ];
}

/** Columns as documented in the reference. */
function cellsForPipe(version: ListedVersion): readonly string[] {
  const { name, digest, at, until, by, source, standing } = version;
  const end = until === null ? "-" : moment(until);
  const known = [visible(name), visible(digest), moment(at), end, visible(by), visible(source)];
  return [...known, standing, version.programs.length === 0 ? "-" : visible(programText(version))];
}

function print({ terminal, now }: Context, versions: readonly ListedVersion[]): void {
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
  summary: "the policies that were in force: each version, since when, until when and in which program",
  details: [
    "A version is in force while a program judges by it: from its first effect on, until it ends or takes another version.",
    "In a pipe each line is tab-separated: name, digest, in force since, until (- while it is, or where nobody knows), put in force by, file, used or ended or unused, the program that judges by it or did last (-: none).",
  ],
  flags: {},
  async run(context) {
    const versions = await context.hp.policies.list();
    if (context.json) for (const version of versions) context.terminal.json(version);
    else print(context, versions);
    return EXIT.ok;
  },
};
