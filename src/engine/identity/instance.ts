/** What an instance offers about people and keys. */
import { checkFields, checkId } from "../../kernel/fields.ts";
import { findIds } from "../../runtime/lists.ts";
import type { Opening } from "../instance.ts";
import type { Said } from "../operate.ts";
import {
  checkChange,
  checkKeyOffer,
  checkKeyPage,
  checkNewPerson,
  checkRotation,
  type KeyOffer,
  type KeyPage,
  type KeyRotation,
  type NewPerson,
  type PersonChange,
} from "./check-identity.ts";
import {
  type ApiKey,
  getKey,
  type IssuedKey,
  issue,
  type KeyList,
  listKeys,
  revoke,
  rotate,
} from "./keys.ts";
import { type LoginLink, offerLogin } from "./logins.ts";
import {
  addPerson,
  changePerson,
  getPerson,
  listPeople,
  type Person,
  removePerson,
  setStanding,
} from "./people.ts";

export type People = {
  /** Everybody in the list, in the order in which they were added. */
  list(): Promise<readonly Person[]>;
  get(person: string): Promise<Person>;
  add(person: NewPerson): Promise<Person>;
  /** Says anew what somebody is there for; what is not named stays as it is. */
  change(person: string, change: PersonChange): Promise<Person>;
  /** From now on no role or group means them, and their keys and sessions are worth nothing. */
  remove(person: string, said: Said): Promise<void>;
  /** From now on this person's votes do not count, those already cast included; nor do their keys and sessions. */
  suspend(person: string, said: Said): Promise<void>;
  reinstate(person: string, said: Said): Promise<void>;
  /** A link that makes one session, once, within ten minutes unless `forMs` says otherwise. */
  loginLink(person: string, offer: { readonly by: string; readonly forMs?: number }): Promise<LoginLink>;
};

const SAID = "What is said";
const WORDS = ["by", "reason"];
const PERSON = "A person";

export function peopleOf(open: Opening): People {
  const said = (given: Said) => checkFields(SAID, given, WORDS);
  return {
    list: async () => listPeople(await open()),
    get: async (person) => getPerson(await open(), checkId(PERSON, person)),
    add: async (person) => addPerson(await open(), checkNewPerson(person)),
    change: async (person, change) => changePerson(await open(), person, checkChange(change)),
    remove: async (person, given) => removePerson(await open(), person, said(given)),
    suspend: async (person, given) => setStanding(await open(), true, { ...said(given), person }),
    reinstate: async (person, given) => setStanding(await open(), false, { ...said(given), person }),
    loginLink: async (person, offer) =>
      offerLogin(await open(), person, checkFields("A login link", offer, ["by", "forMs"])),
  };
}

export type Keys = {
  /** The text of the key is in the answer, this once. */
  issue(offer: KeyOffer): Promise<IssuedKey>;
  /** A new key that may do the same; the old one works an hour longer, unless `overlapMs` says otherwise. */
  rotate(id: string, rotation: KeyRotation): Promise<IssuedKey>;
  /** It is worth nothing from now on; in other processes within a second. */
  revoke(id: string, said: Said): Promise<ApiKey>;
  get(id: string): Promise<ApiKey>;
  /** Newest first. */
  list(page?: KeyPage): Promise<KeyList>;
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
};

const KEY = "A key";

export function keysOf(open: Opening): Keys {
  return {
    issue: async (offer) => issue(await open(), checkKeyOffer(offer)),
    rotate: async (id, rotation) => rotate(await open(), checkId(KEY, id), checkRotation(rotation)),
    revoke: async (id, said) => revoke(await open(), checkId(KEY, id), checkFields(SAID, said, WORDS)),
    get: async (id) => getKey(await open(), checkId(KEY, id)),
    list: async (page = {}) => listKeys(await open(), checkKeyPage(page)),
    find: async (beginning) => findIds(await open(), "keys", checkId(KEY, beginning)),
  };
}
