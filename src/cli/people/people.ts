import type { Json } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { Person } from "../../people/contract.ts";
import type { Member, Role } from "../../people/stream.ts";
import { type Command, type Context, EXIT, flag, needed, word } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { printList } from "../shell/lists.ts";
import { type Part, runPart } from "../shell/parse.ts";
import { formatMoment } from "../shell/terminal.ts";

const NONE = "none";
const HEADS = ["PERSON", "NAME", "ROLES", "GROUPS", "MAIL", "STANDING", "SINCE"];

/** `ann` and `person:ann` are the same person. */
export function readPerson(given: string): string {
  if (given === "")
    throw new CommandError(
      "usage",
      "Whom? A person's name is needed.",
      "Such as: holdpoint people add ann --role admin",
    );
  return given.startsWith("person:") ? given : `person:${given}`;
}

const textOf = (list: readonly string[]): string => (list.length === 0 ? "-" : list.join(","));

function cellsOf({ person, name, roles, groups, mail, suspended, since }: Person): readonly string[] {
  const standing = suspended ? "suspended" : "good";
  return [person, name, textOf(roles), textOf(groups), mail ?? "-", standing, formatMoment(since)].map(
    visible,
  );
}

async function list(context: Context): Promise<number> {
  const items = await context.hp.people.list();
  printList(context, { items }, { heads: HEADS, cells: cellsOf, empty: "Nobody is in the list of people." });
  return EXIT.ok;
}

/** Repeated flags, or the single word `none`. */
function listOf(context: Context, name: string): readonly string[] | undefined {
  const given = context.values.get(name);
  return given?.length === 1 && given[0] === NONE ? [] : given;
}

function memberOf(context: Context): Partial<Member> {
  const [name, mail] = [flag(context, "name"), flag(context, "mail")];
  const [roles, groups] = [listOf(context, "role"), listOf(context, "group")];
  return {
    ...(name === undefined ? {} : { name }),
    ...(mail === undefined ? {} : { mail: mail === NONE ? null : mail }),
    ...(roles === undefined ? {} : { roles: roles as readonly Role[] }),
    ...(groups === undefined ? {} : { groups }),
  };
}

function tell({ terminal, json }: Context, person: Person, said: string): number {
  if (json) terminal.json(person as unknown as Json);
  else terminal.line(`${said}: ${cellsOf(person).slice(0, 5).join("  ")}`);
  return EXIT.ok;
}

async function add(context: Context): Promise<number> {
  const person = readPerson(word(context, 1));
  const added = await context.hp.people.add({ person, ...memberOf(context), by: context.person });
  return tell(context, added, "In the list of people");
}

async function change(context: Context): Promise<number> {
  const person = readPerson(word(context, 1));
  const member = memberOf(context);
  if (Object.keys(member).length === 0)
    throw new CommandError("usage", "Nothing to change was said.", "Use --name, --mail, --role or --group.");
  return tell(context, await context.hp.people.change(person, { ...member, by: context.person }), "Changed");
}

type Verb = "remove" | "suspend" | "reinstate";
const DONE: { readonly [verb in Verb]: string } = {
  remove: "Removed: nothing that they hold is worth anything from now on",
  suspend: "Suspended: their votes, keys and sessions count for nothing from now on",
  reinstate: "Reinstated: their votes, keys and sessions count again",
};

const saying = (verb: Verb): Part => ({
  flags: ["reason"],
  needs: ["reason"],
  words: 1,
  async run(context) {
    const { hp, terminal, json } = context;
    const person = readPerson(word(context, 1));
    await hp.people[verb](person, { by: context.person, reason: needed(context, "reason") });
    if (json) terminal.json({ person, [verb]: true });
    else terminal.line(`${DONE[verb]}: ${visible(person)}.`);
    return EXIT.ok;
  },
});

const MEMBER = ["name", "mail", "role", "group"];
const PARTS = {
  list: { flags: [], words: 0, run: list },
  add: { flags: MEMBER, words: 1, run: add },
  change: { flags: MEMBER, words: 1, run: change },
  remove: saying("remove"),
  suspend: saying("suspend"),
  reinstate: saying("reinstate"),
} as const satisfies { readonly [name: string]: Part };

export const peopleCommand: Command = {
  name: "people",
  words: ["[list|add|change|remove|suspend|reinstate]", "[person]"],
  summary: "List, add and change people: roles, groups, mail",
  details: [
    "people (or people list) shows everybody.",
    "people add ann --role supervisor --group finance --mail ann@example.com",
    "people change ann --role supervisor --role auditor replaces the roles; --role none takes all of them away.",
    "Roles: admin, poster, executor, supervisor, verifier, auditor. There is always an admin once there was one.",
    "In a pipe each line is tab-separated: person, name, roles, groups, mail, standing, since.",
  ],
  examples: ["holdpoint people add ann --role supervisor --mail ann@example.com"],
  flags: {
    name: { value: "<text>", summary: "add and change: the name that people read" },
    mail: { value: "<address>", summary: "add and change: where messages go; none: nowhere" },
    role: {
      value: "<role>",
      summary: "add and change: what they are there for; may be repeated",
      repeatable: true,
    },
    group: {
      value: "<name>",
      summary: "add and change: a group of people; may be repeated",
      repeatable: true,
    },
    reason: { value: "<text>", summary: "remove, suspend and reinstate: why; it is recorded" },
  },
  run: async (context) => runPart(context, "people", PARTS),
};
