/**
 * The roster of a tenant: its people, their standing, roles and groups.
 *
 * - A vote counts only while its voter is in good standing and named by the rule (`rules/roster.ts`).
 * - A person outside the roster has no role and no group. An empty roster does not limit who decides.
 * - A person who was removed and added again is new: their earlier credentials and votes are void.
 */
import type { JsonObject } from "../kernel/json.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { eventBody, type Fold, type NewEvent } from "../kernel/stream.ts";

export const ROLES = ["admin", "poster", "executor", "supervisor", "verifier", "auditor"] as const;
export type Role = (typeof ROLES)[number];

export type Member = {
  readonly name: string;
  /** Email address for messages to this person. */
  readonly mail: string | null;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
};

/** `since`: when the person was last added. */
export type RosterEntry = Member & { readonly since: number };

export type RosterState = {
  readonly suspended: readonly string[];
  /** By person: `person:<name>`. */
  readonly members: ReadonlyMap<string, RosterEntry>;
};

const EVENTS = [
  "person.added",
  "person.changed",
  "person.removed",
  "person.suspended",
  "person.reinstated",
] as const;

function memberOf(body: JsonObject): Member {
  const { name, mail, roles, groups } = body as unknown as Member;
  return { name, mail, roles, groups };
}

export const rosterFold: Fold<RosterState> = {
  version: 3,
  initial: { suspended: [], members: new Map() },
  evolve(state, event) {
    const body = eventBody("The roster", event, EVENTS);
    const person = String(body["person"]);
    const suspended = state.suspended.filter((name) => name !== person);
    const members = new Map(state.members);
    switch (event.type as (typeof EVENTS)[number]) {
      case "person.added":
      case "person.changed": {
        const since = members.get(person)?.since ?? event.at;
        return { ...state, members: members.set(person, { ...memberOf(body), since }) };
      }
      case "person.removed":
        members.delete(person);
        return { ...state, members };
      case "person.suspended":
        return { ...state, suspended: [...suspended, person] };
      case "person.reinstated":
        return { ...state, suspended };
    }
  },
};

/** Whether one of the names covers this person: `person:ann`, `role:supervisor`, `group:finance`. */
export function isPersonAmong({ members }: RosterState, person: string, names: readonly string[]): boolean {
  if (names.includes(person)) return true;
  const member = members.get(person);
  if (member === undefined) return false;
  const { roles, groups } = member;
  return (
    roles.some((role) => names.includes(`role:${role}`)) ||
    groups.some((group) => names.includes(`group:${group}`))
  );
}

/** All people whom the names cover: people as written, roles and groups resolved by the roster. */
export function peopleAmong(roster: RosterState, names: readonly string[]): readonly string[] {
  const written = names.filter((name) => name.startsWith("person:"));
  const listed = [...roster.members.keys()].filter((person) => isPersonAmong(roster, person, names));
  return [...new Set([...written, ...listed])];
}

export function decideStanding(
  state: RosterState,
  command: Via & { person: string; suspend: boolean; by: string; reason: string },
): NewEvent[] {
  if (state.suspended.includes(command.person) === command.suspend) return [];
  const type = command.suspend ? "person.suspended" : "person.reinstated";
  const { person, by, reason } = command;
  return [{ type, tv: 1, body: { person, by, reason, ...channelField(command) } }];
}

type MemberCommand = Via & {
  readonly person: string;
  readonly member: Member;
  readonly by: string;
};

function isSame({ since: _since, ...one }: RosterEntry, other: Member): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Adds a person, or changes their details. */
export function decideMember(state: RosterState, command: MemberCommand): NewEvent[] {
  const { person, member, by } = command;
  const known = state.members.get(person);
  const { name, mail, roles, groups } = member;
  const tidy: Member = {
    name,
    mail,
    roles: ROLES.filter((role) => roles.includes(role)),
    groups: [...new Set(groups)].sort(),
  };
  if (known !== undefined && isSame(known, tidy)) return [];
  const type = known === undefined ? "person.added" : "person.changed";
  const body = { person, ...tidy, by, ...channelField(command) };
  return [{ type, tv: 1, body: body as unknown as JsonObject }];
}

export function decideRemoval(
  state: RosterState,
  command: Via & { readonly person: string; readonly by: string; readonly reason: string },
): NewEvent[] {
  if (!state.members.has(command.person)) return [];
  return [{ type: "person.removed", tv: 1, body: { ...command } }];
}
