/** How the first person gets in: whoever starts the server, or whom it names, is its first admin and is given a link. */

import { offerLogin } from "../engine/identity/logins.ts";
import { addFirstAdmin, addPerson, changePerson, listPeople } from "../engine/identity/people.ts";
import type { Runtime } from "../runtime/runtime.ts";

const FIRST_ROLES = ["admin", "supervisor"] as const;

/** The text of a link for this person; undefined where others look after the list and this one is not in it. */
export async function firstLogin(runtime: Runtime, person: string): Promise<string | undefined> {
  const people = await listPeople(runtime);
  const hasAdmin = people.some(({ roles, suspended }) => roles.includes("admin") && !suspended);
  const isKnown = people.some((one) => one.person === person && !one.suspended);
  if (!hasAdmin && !people.some((one) => one.person === person))
    await addPerson(runtime, { person, roles: FIRST_ROLES, by: person });
  else if (!isKnown) return undefined;
  return (await offerLogin(runtime, person, { by: person })).text;
}

/**
 * The same for somebody whom a setting names: of an empty store alone, and by the one node that has added them. Links of an
 * admin do not belong into the log of every start.
 */
export async function firstLoginOf(runtime: Runtime, person: string): Promise<string | undefined> {
  if (!(await addFirstAdmin(runtime, person))) return undefined;
  await changePerson(runtime, person, { roles: FIRST_ROLES, by: person });
  return (await offerLogin(runtime, person, { by: person })).text;
}
