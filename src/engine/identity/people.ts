/** The list of people: who is in it, what they are there for, and whether their word counts. */

import {
  addPerson as add,
  addFirstAdmin as addFirst,
  changePerson as change,
  changeStanding,
  type PeopleAnswer,
  removePerson as remove,
} from "../../core/people.ts";
import type { Member } from "../../core/roster.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import { checkSaid, type Said } from "../operate.ts";

import { forgetCredentials } from "./authenticate.ts";
import { checkPerson, type NewPerson, type PersonChange } from "./check-identity.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;

/** Somebody in the list. `since`: when they were added, the last time. */
export type Person = Member & {
  readonly person: string;
  readonly since: number;
  readonly suspended: boolean;
};

function unknownPerson(person: string): HoldpointError {
  return new HoldpointError("unknown_id", `${displayValue(person)} is not in the list of people.`, {
    next: "`holdpoint people` shows it.",
  });
}

function refusal(answer: Exclude<PeopleAnswer, { kind: "done" }>, person: string): HoldpointError {
  if (answer.kind === "unknown") return unknownPerson(person);
  if (answer.kind === "last_admin")
    return new HoldpointError("last_admin", `${person} is the last admin in good standing.`);
  if (answer.kind === "known")
    return new HoldpointError(
      "wrong_state",
      `${person} is in the list of people already, with other particulars.`,
      {
        next: "Change them instead: `holdpoint people change`.",
      },
    );
  return new HoldpointError("not_eligible", `Nothing was changed: ${answer.reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });
}

/** Answers whether anything changed. */
async function decide(
  place: Place,
  person: string,
  rules: (draft: Draft) => Need | PeopleAnswer,
): Promise<boolean> {
  try {
    const answer = await runCommand(place, { write: [ROSTER] }, rules);
    if (answer.kind !== "done") throw refusal(answer, person);
    return answer.changed;
  } finally {
    forgetCredentials(place.store);
  }
}

/** In the order in which they were added. */
export async function listPeople(place: Pick<Place, "store" | "tenant">): Promise<readonly Person[]> {
  const { members, suspended } = await readState(place, ROSTER);
  return [...members].map(([person, member]) => ({
    person,
    ...structuredClone(member),
    suspended: suspended.includes(person),
  }));
}

export async function getPerson(place: Pick<Place, "store" | "tenant">, person: string): Promise<Person> {
  const found = (await listPeople(place)).find((one) => one.person === person);
  if (found === undefined) throw unknownPerson(person);
  return found;
}

export async function addPerson(place: Place, given: NewPerson & Via): Promise<Person> {
  const { person, by, name = person.slice("person:".length), mail = null, roles = [], groups = [] } = given;
  const member = { name, mail, roles, groups };
  await decide(place, person, (draft) => add(draft, { person, member, by, ...channelField(given) }));
  return getPerson(place, person);
}

/** For the first start of a server: who starts it is the first admin. Answers whether the list was empty until now. */
export function addFirstAdmin(place: Place, person: string): Promise<boolean> {
  return decide(place, checkPerson(person), (draft) => addFirst(draft, person));
}

export async function changePerson(place: Place, person: string, given: PersonChange & Via): Promise<Person> {
  const { by, via: _how, ...rest } = given;
  const named = Object.entries(rest).filter(([, value]) => value !== undefined);
  const member = Object.fromEntries(named) as Partial<Member>;
  const command = { person, member, by, ...channelField(given) };
  await decide(place, checkPerson(person), (draft) => change(draft, command));
  return getPerson(place, person);
}

export async function removePerson(place: Place, person: string, said: Said & Via): Promise<void> {
  checkSaid(said);
  const command = { person, by: said.by, reason: said.reason, ...channelField(said) };
  await decide(place, checkPerson(person), (draft) => remove(draft, command));
}

export async function setStanding(
  place: Place,
  suspend: boolean,
  command: Said & Via & { readonly person: string },
): Promise<void> {
  checkSaid(command);
  const { by, reason } = command;
  const person = checkPerson(command.person);
  const saying = { person, suspend, by, reason, ...channelField(command) };
  await decide(place, person, (draft) => changeStanding(draft, saying));
}
