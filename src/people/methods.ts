/**
 * The people of a tenant: `people` and `keys` of `admin(hp)`, the operations on the roster behind them,
 * and the login link of the first admin of an empty store.
 */

import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkId } from "../kernel/fields.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { ROSTER } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { findIds } from "../runtime/lists.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { forgetCredentials } from "./authenticate.ts";
import {
  checkKeyOffer,
  checkKeyPage,
  checkNewPerson,
  checkPerson,
  checkPersonChange,
  checkRotation,
  checkSaid,
  type KeyOffer,
  type KeyPage,
  type KeyRotation,
  type NewPerson,
  type PersonChange,
  type Said,
} from "./input.ts";
import {
  type ApiKey,
  getKey,
  type IssuedKey,
  issueApiKey,
  type KeyList,
  listKeys,
  revokeApiKey,
  rotateApiKey,
} from "./keys/keys.ts";
import {
  decideAddPerson as add,
  decideFirstAdmin as addFirst,
  decideChangePerson as change,
  changeStanding,
  type PeopleAnswer,
  decideRemovePerson as remove,
} from "./rules/roster.ts";
import { type LoginLink, offerLogin } from "./sessions/sessions.ts";
import type { Member } from "./stream.ts";

type PeopleDependencies = Pick<Runtime, "store" | "tenant" | "clock">;

/** A member of the roster. `since`: when the person was last added. */
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

/** Returns whether anything changed. */
async function runRosterCommand(
  place: PeopleDependencies,
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
export async function listPeople(
  place: Pick<PeopleDependencies, "store" | "tenant">,
): Promise<readonly Person[]> {
  const { members, suspended } = await readState(place, ROSTER);
  return [...members].map(([person, member]) => ({
    person,
    ...structuredClone(member),
    suspended: suspended.includes(person),
  }));
}

export async function getPerson(
  place: Pick<PeopleDependencies, "store" | "tenant">,
  person: string,
): Promise<Person> {
  const found = (await listPeople(place)).find((one) => one.person === person);
  if (found === undefined) throw unknownPerson(person);
  return found;
}

export async function addPerson(place: PeopleDependencies, given: NewPerson & Via): Promise<Person> {
  const { person, by, name = person.slice("person:".length), mail = null, roles = [], groups = [] } = given;
  const member = { name, mail, roles, groups };
  await runRosterCommand(place, person, (draft) =>
    add(draft, { person, member, by, ...channelField(given) }),
  );
  return getPerson(place, person);
}

/** First start of a server: its starter becomes the first admin. Returns whether the roster was empty. */
function addFirstAdmin(place: PeopleDependencies, person: string): Promise<boolean> {
  return runRosterCommand(place, checkPerson(person), (draft) => addFirst(draft, person));
}

export async function changePerson(
  place: PeopleDependencies,
  person: string,
  given: PersonChange & Via,
): Promise<Person> {
  const { by, via: _how, ...rest } = given;
  const named = Object.entries(rest).filter(([, value]) => value !== undefined);
  const member = Object.fromEntries(named) as Partial<Member>;
  const command = { person, member, by, ...channelField(given) };
  await runRosterCommand(place, checkPerson(person), (draft) => change(draft, command));
  return getPerson(place, person);
}

export async function removePerson(
  place: PeopleDependencies,
  person: string,
  said: Said & Via,
): Promise<void> {
  checkSaid(said);
  const command = { person, by: said.by, reason: said.reason, ...channelField(said) };
  await runRosterCommand(place, checkPerson(person), (draft) => remove(draft, command));
}

export async function setStanding(
  place: PeopleDependencies,
  suspend: boolean,
  command: Said & Via & { readonly person: string },
): Promise<void> {
  checkSaid(command);
  const { by, reason } = command;
  const person = checkPerson(command.person);
  const saying = { person, suspend, by, reason, ...channelField(command) };
  await runRosterCommand(place, person, (draft) => changeStanding(draft, saying));
}

export type People = {
  /** All members of the roster, in the order in which they were added. */
  list(): Promise<readonly Person[]>;
  get(person: string): Promise<Person>;
  add(person: NewPerson): Promise<Person>;
  /** Changes a person's name, mail, roles or groups. Omitted fields stay as they are. */
  change(person: string, change: PersonChange): Promise<Person>;
  /** Removes this person from all roles and groups, and voids their keys and sessions. */
  remove(person: string, said: Said): Promise<void>;
  /** While suspended, this person's keys, sessions and votes do not count, including votes already cast. */
  suspend(person: string, said: Said): Promise<void>;
  reinstate(person: string, said: Said): Promise<void>;
  /** A link that starts one session, once. `forMs` default: ten minutes. */
  loginLink(person: string, offer: { readonly by: string; readonly forMs?: number }): Promise<LoginLink>;
};

const ACTOR_FIELDS = "What is said";
const ACTOR_AND_REASON_FIELDS = ["by", "reason"];
const PERSON = "A person";

export function peopleMethods(open: RuntimeOpener): People {
  const said = (given: Said) => checkFields(ACTOR_FIELDS, given, ACTOR_AND_REASON_FIELDS);
  return {
    list: async () => listPeople(await open()),
    get: async (person) => getPerson(await open(), checkId(PERSON, person)),
    add: async (person) => addPerson(await open(), checkNewPerson(person)),
    change: async (person, change) => changePerson(await open(), person, checkPersonChange(change)),
    remove: async (person, given) => removePerson(await open(), person, said(given)),
    suspend: async (person, given) => setStanding(await open(), true, { ...said(given), person }),
    reinstate: async (person, given) => setStanding(await open(), false, { ...said(given), person }),
    loginLink: async (person, offer) =>
      offerLogin(await open(), person, checkFields("A login link", offer, ["by", "forMs"])),
  };
}

export type Keys = {
  /** The answer holds the text of the key, which is returned only here. */
  issue(offer: KeyOffer): Promise<IssuedKey>;
  /** Issues a new key with the same rights. The old key keeps working for `overlapMs` (default: one hour). */
  rotate(id: string, rotation: KeyRotation): Promise<IssuedKey>;
  /** Voids the key now; in other processes within a second. */
  revoke(id: string, said: Said): Promise<ApiKey>;
  get(id: string): Promise<ApiKey>;
  /** Newest first. */
  list(page?: KeyPage): Promise<KeyList>;
  /** Ids that begin with the given text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
};

const KEY = "A key";

export function keyMethods(open: RuntimeOpener): Keys {
  return {
    issue: async (offer) => issueApiKey(await open(), checkKeyOffer(offer)),
    rotate: async (id, rotation) => rotateApiKey(await open(), checkId(KEY, id), checkRotation(rotation)),
    revoke: async (id, said) =>
      revokeApiKey(await open(), checkId(KEY, id), checkFields(ACTOR_FIELDS, said, ACTOR_AND_REASON_FIELDS)),
    get: async (id) => getKey(await open(), checkId(KEY, id)),
    list: async (page = {}) => listKeys(await open(), checkKeyPage(page)),
    find: async (beginning) => findIds(await open(), "keys", checkId(KEY, beginning)),
  };
}

const FIRST_ROLES = ["admin", "supervisor"] as const;

/** Login link text for this person; undefined if they are suspended, or not in a roster that has an admin. */
export async function firstAdminLogin(runtime: Runtime, person: string): Promise<string | undefined> {
  const people = await listPeople(runtime);
  const hasAdmin = people.some(({ roles, suspended }) => roles.includes("admin") && !suspended);
  const isKnown = people.some((one) => one.person === person && !one.suspended);
  if (!hasAdmin && !people.some((one) => one.person === person))
    await addPerson(runtime, { person, roles: FIRST_ROLES, by: person });
  else if (!isKnown) return undefined;
  return (await offerLogin(runtime, person, { by: person })).text;
}

/**
 * The same for a person named by a setting, but only in an empty store, and only on the one node that added them. An
 * admin's login links do not belong in the log of every start.
 */
export async function namedFirstAdminLogin(runtime: Runtime, person: string): Promise<string | undefined> {
  if (!(await addFirstAdmin(runtime, person))) return undefined;
  await changePerson(runtime, person, { roles: FIRST_ROLES, by: person });
  return (await offerLogin(runtime, person, { by: person })).text;
}
