/** How the first person gets in: whoever starts the server is its first admin, and is given a link. */

import { offerLogin } from "../engine/identity/logins.ts";
import { addPerson, listPeople } from "../engine/identity/people.ts";
import type { Runtime } from "../engine/runtime.ts";

/** The text of a link for this person; undefined where others look after the list and this one is not in it. */
export async function firstLogin(runtime: Runtime, person: string): Promise<string | undefined> {
  const people = await listPeople(runtime);
  const hasAdmin = people.some(({ roles, suspended }) => roles.includes("admin") && !suspended);
  const isKnown = people.some((one) => one.person === person && !one.suspended);
  if (!hasAdmin && !people.some((one) => one.person === person))
    await addPerson(runtime, { person, roles: ["admin", "supervisor"], by: person });
  else if (!isKnown) return undefined;
  return (await offerLogin(runtime, person, { by: person })).text;
}
