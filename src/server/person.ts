/** Which person does something: whoever the credential is. What a body says counts only where nobody is authenticated. */

import { HoldpointError } from "../kernel/errors.ts";
import { isPerson, isPrincipal } from "../kernel/principal.ts";
import { scopesOf } from "../people/rules/scopes.ts";
import type { Role } from "../people/stream.ts";
import type { Who } from "./authenticate.ts";

const asPerson = (name: string): string => (name.startsWith("person:") ? name : `person:${name}`);

function believed(named: string | undefined, field: string): string {
  if (named === undefined)
    throw new HoldpointError("invalid_input", `Without authentication, "${field}" has to say who it is.`);
  const person = asPerson(named);
  if (/^(agent|service):/.test(named))
    throw new HoldpointError("invalid_input", `"${field}" is a program's name; only people do this.`);
  if (!isPrincipal(person)) throw new HoldpointError("invalid_input", `"${field}" is not a person's name.`);
  return person;
}

/** Where nobody is authenticated, everybody may be one. */
export function checkIsPerson({ principal }: Pick<Who, "principal">): void {
  if (principal !== null && !isPerson(principal))
    throw new HoldpointError("forbidden", "Only people do this; this is a credential of a program.", {
      next: "Have a person do it, with their own session or key.",
    });
}

/** `field` is where the body may name the same person. */
export function personOf({ principal }: Who, named: string | undefined, field = "by"): string {
  if (principal === null) return believed(named, field);
  checkIsPerson({ principal });
  if (named !== undefined && asPerson(named) !== principal)
    throw new HoldpointError("forbidden", `"${field}" is not the person whose credential this is.`, {
      next: `Leave "${field}" out, or have that person do it.`,
    });
  return principal;
}

/** Whoever may log somebody in may do all that they may: a credential that was narrowed would be wide again by it. */
export function adminOf(who: Who, named: string | undefined): string {
  const by = personOf(who, named);
  const all = scopesOf({ tenant: who.tenant, principal: by, roles: ["admin"] }, null);
  if (who.roles.includes("admin") && all.every((scope) => who.can(scope))) return by;
  throw new HoldpointError("forbidden", "Only an admin does this, with a credential that was not narrowed.", {
    next: "Have an admin do it, with their session or with a key that has all scopes.",
  });
}

/** A key that was narrowed is for one thing: it does not do what its owner's sessions and other keys do. */
export function checkNotNarrowed({ tenant, principal, roles, via, can }: Who): void {
  if (principal === null || via === "session") return;
  if (scopesOf({ tenant, principal, roles }, null).every(can)) return;
  throw new HoldpointError("forbidden", "This needs a session, or a key that was not narrowed.", {
    next: "Log in and do it there, or use a key that has all scopes of its owner.",
  });
}

/** Nobody gives a role that brings more than their own credential has: a narrowed one would be wide again by it. */
export function checkGiven(who: Who, person: string, roles: readonly Role[]): void {
  if (who.principal === null) return;
  const brought = scopesOf({ tenant: who.tenant, principal: person, roles }, null);
  const lacking = brought.find((scope) => !who.can(scope));
  if (lacking === undefined) return;
  throw new HoldpointError(
    "forbidden",
    `This credential does not have ${lacking}, which these roles bring: ${roles.join(", ")}.`,
    { next: "Have somebody give them whose session or key has all that they bring, such as an admin." },
  );
}

/** A person or a service: no agent says where the outside is told what happens. */
export function operatorOf(who: Who, named: string | undefined): string {
  const by = principalOf(who, named);
  if (!by.startsWith("agent:")) return by;
  throw new HoldpointError("forbidden", "No agent does this; this is an agent's credential.", {
    next: "Have a person do it, or a service.",
  });
}

/** Any principal: a program may take back what it asked. */
export function principalOf(who: Who, named: string | undefined): string {
  if (who.principal === null && isPrincipal(named)) return named;
  if (who.principal === null || isPerson(who.principal)) return personOf(who, named);
  if (named !== undefined && named !== who.principal)
    throw new HoldpointError("forbidden", `"by" is not the program whose credential this is.`);
  return who.principal;
}

type Posted = { readonly parties: { readonly poster: string | null; readonly executor: string | null } };

/** A party to it; of people, also whoever looks after all workflows. */
function isTheirs({ principal, roles }: Who, { parties }: Posted): boolean {
  if (principal === null || principal === parties.poster || principal === parties.executor) return true;
  return isPerson(principal) && (roles.includes("admin") || roles.includes("supervisor"));
}

/** Who ends a workflow. */
export function enderOf(who: Who, named: string | undefined, workflow: Posted): string {
  const by = principalOf(who, named);
  if (isTheirs(who, workflow)) return by;
  throw new HoldpointError(
    "forbidden",
    "This workflow is another's: it was not posted by whom this credential is, nor do they execute it.",
    {
      data: "The workflow did not change.",
      next: "Have its poster or its executor do it, or a person who is an admin or a supervisor.",
    },
  );
}

/** Who sends a workflow back: that takes a question away from people, so no program does. One that drives it may fail it. */
export function senderBackOf(who: Who, named: string | undefined, workflow: Posted): string {
  const by = enderOf(who, named, workflow);
  if (who.principal === null || isPerson(who.principal)) return by;
  throw new HoldpointError(
    "forbidden",
    "Only people send a workflow back; this is a credential of a program.",
    {
      data: "The workflow did not change.",
      next: "Have a person do it; the agent that drives it gives it up with POST /api/workflows/{id}/fail.",
    },
  );
}
