/**
 * Whom an approver rule names: people, and by the roster whoever has a role or is in a group.
 *
 * R1. A role or group means whoever the roster says at that moment. A person who is written by name is meant in any case.
 */
import { peopleAmong, ROLES, type RosterState } from "../people/stream.ts";

const EMPTY: RosterState = { suspended: [], members: new Map() };
const GROUP = /^group:[^\s/][^\n\r\t]{0,199}$/u;

const isWritten = (name: string): boolean => !/^(role|group):/.test(name);

/** Whether the roster has to be read to know who is meant. */
export const namesGroups = (from: readonly string[] | null): boolean =>
  from !== null && !from.every(isWritten);

const notPeople = (name: string): string =>
  /^(agent|service):/.test(name)
    ? `${name} does not decide, only people do; name them as person:…, role:… or group:…`
    : `${name} is not a person; write person:${name}, role:… or group:…`;

/** Why a name means nobody, ever; undefined when it may. */
export function nameFault(name: string): string | undefined {
  if (!/^(person|role|group):/.test(name)) return notPeople(name);
  if (name.startsWith("role:") && !ROLES.some((role) => name === `role:${role}`))
    return `${name} is not a role; there are ${ROLES.join(", ")}`;
  if (name.startsWith("group:") && !GROUP.test(name)) return `${name} is not a group; write group:<name>`;
  return undefined;
}

const MOST_NAMES = 1_000;
const LONGEST_NAME = 210;

/** Of a field that should be a list of names. */
export function namesFault(field: string, names: unknown): string | undefined {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
    return `${field} is not a list of people`;
  if (names.length > MOST_NAMES) return `${field} has over ${MOST_NAMES} names`;
  if (names.some(({ length }) => length > LONGEST_NAME))
    return `${field} has a name of over ${LONGEST_NAME} characters`;
  const fault = names.map(nameFault).find((one) => one !== undefined);
  return fault === undefined ? undefined : `${field}: ${fault}`;
}

/** Everybody who is meant; undefined where that cannot be told without the roster. */
export function peopleNamed(
  names: readonly string[],
  roster: RosterState | undefined,
): readonly string[] | undefined {
  if (roster === undefined && namesGroups(names)) return undefined;
  return peopleAmong(roster ?? EMPTY, names);
}

/** Why those who are named are too few, in words that follow the count. */
export function shortOf(
  names: readonly string[],
  { out, roster = EMPTY }: { readonly out: readonly string[]; readonly roster: RosterState | undefined },
): string {
  const empty = names.filter((name) => !isWritten(name) && peopleAmong(roster, [name]).length === 0);
  const apart = peopleAmong(roster, names).filter((who) => out.includes(who));
  const said = [
    ...[...new Set(empty)].map((name) => `nobody is in ${name}`),
    ...apart.map((who) => `${who} may not decide this`),
  ];
  return said.length === 0 ? "" : `; ${said.join("; ")}`;
}
