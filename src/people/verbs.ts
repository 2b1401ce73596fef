/** Implementation of the verbs of people, and the login link of the first admin of an empty store. */
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { loginStream, ROSTER } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { type BoundVerb, capability, notEligible, preparedVerb, readVerb } from "../runtime/verb.ts";
import type { TenantStore } from "../stores/store.ts";
import { clearingCredentials } from "./authenticate.ts";
import { type LoginLink, type NewPerson, namesPerson, notAPerson, type Person, people } from "./contract.ts";
import { makeSecret } from "./keys/verbs.ts";
import {
  changeStanding,
  decideAddPerson,
  decideChangePerson,
  decideFirstAdmin,
  decideRemovePerson,
  type PeopleAnswer,
} from "./rules/roster.ts";
import { type CallerRights, checkAssignable, checkFullAdmin } from "./rules/scopes.ts";
import { decideOfferLogin } from "./sessions/rules.ts";
import type { Member } from "./stream.ts";

function unknownPerson(person: string): HoldpointError {
  return new HoldpointError("unknown_id", `${displayValue(person)} is not in the list of people.`, {
    next: "`holdpoint people` shows it.",
  });
}

function refusal(answer: Exclude<PeopleAnswer, { kind: "done" }>, person: string): HoldpointError {
  switch (answer.kind) {
    case "unknown":
      return unknownPerson(person);
    case "last_admin":
      return new HoldpointError("last_admin", `${person} is the last admin in good standing.`);
    case "known":
      return new HoldpointError(
        "wrong_state",
        `${person} is in the list of people already, with other particulars.`,
        { next: "Change them instead: `holdpoint people change`." },
      );
    case "not_allowed":
      return notEligible(answer.reason);
  }
}

async function listPeople(place: TenantStore): Promise<readonly Person[]> {
  const { members, suspended } = await readState(place, ROSTER);
  return [...members].map(([person, member]) => ({
    person,
    ...structuredClone(member),
    suspended: suspended.includes(person),
  }));
}

async function getPerson(place: TenantStore, person: string): Promise<Person> {
  const found = (await listPeople(place)).find((one) => one.person === person);
  if (found === undefined) throw unknownPerson(person);
  return found;
}

type Named = { readonly person: string };
type Preparation = {
  readonly runtime: Runtime;
  readonly how: Via;
  readonly caller: CallerRights | undefined;
};

function checkPerson({ person }: Named): void {
  if (!namesPerson(person)) rejectInput(notAPerson({ input: person }));
}

/** A change to the roster. `prepare` makes the rule's command from the input. */
const rosterVerb = <In extends Named, Command extends Named, Out>(
  prepare: (input: In, context: Preparation) => Promise<Command> | Command,
  rule: (draft: Draft, command: Command) => Need | PeopleAnswer,
  answer: (runtime: Runtime, command: Command) => Promise<Out> | Out,
): BoundVerb<In, Out> =>
  clearingCredentials(
    preparedVerb(
      async (runtime, input: In, how, caller) => {
        checkPerson(input);
        return { input: await prepare(input, { runtime, how, caller }), needs: { write: [ROSTER] } };
      },
      rule,
      (runtime, decision: PeopleAnswer, command) => {
        if (decision.kind !== "done") throw refusal(decision, command.person);
        return answer(runtime, command);
      },
    ),
  );

type Statement = Named & { readonly by: string; readonly reason: string };
const withChannel = <Input extends Statement>(input: Input, { how }: Preparation): Input & Via => ({
  ...input,
  ...channelField(how),
});

const standingVerb = (suspend: boolean) =>
  rosterVerb(
    (input: Statement, context) => withChannel({ ...input, suspend }, context),
    changeStanding,
    (_, { person }) => ({ person, suspended: suspend }),
  );

const LINK_MS = 10 * 60_000;

/** Over the network an unknown person is `unknown_id`, as for every route of a person. */
const loginLinkVerb = preparedVerb(
  async (
    runtime,
    { person, by, forMs = LINK_MS }: Named & { readonly by: string; readonly forMs?: number | undefined },
    how,
    caller,
  ) => {
    checkPerson({ person });
    checkFullAdmin(caller, by);
    if (caller !== undefined) await getPerson(runtime, person);
    const id = freshId(runtime, "lgn");
    const { text: link, hash } = makeSecret(runtime, "hpl", id);
    const command = { login: id, person, hash, lastsMs: forMs, by, ...channelField(how) };
    return { input: { link, command }, needs: { write: [loginStream(id)] } };
  },
  (draft, { command }) => decideOfferLogin(draft, command),
  (_, answer, { link, command: { login: id, person } }): LoginLink => {
    if (answer.kind === "not_allowed")
      throw new HoldpointError("not_eligible", `No link was made: ${answer.reason}.`, {
        data: "Nothing was written.",
        next: "`holdpoint people add` adds a person to the list.",
      });
    return { id, person, link, expiresAt: answer.expiresAt };
  },
);

export const peopleVerbs = capability(people, {
  list: readVerb(listPeople),
  get: readVerb((runtime, { person }) => getPerson(runtime, person)),

  add: rosterVerb(
    (
      { person, by, name = person.slice("person:".length), mail = null, roles = [], groups = [] },
      context,
    ) => {
      checkAssignable(context.caller, person, roles);
      return { person, member: { name, mail, roles, groups }, by, ...channelField(context.how) };
    },
    decideAddPerson,
    (runtime, { person }) => getPerson(runtime, person),
  ),

  /** Roles that the person has already are not assigned by this. */
  change: rosterVerb(
    async ({ person, by, ...rest }, { runtime, how, caller }) => {
      const given = Object.entries(rest).filter(([, value]) => value !== undefined);
      const member = Object.fromEntries(given) as Partial<Member>;
      if (member.roles !== undefined && caller !== undefined) {
        const { roles } = await getPerson(runtime, person);
        const added = member.roles.filter((role) => !roles.includes(role));
        checkAssignable(caller, person, added);
      }
      return { person, member, by, ...channelField(how) };
    },
    decideChangePerson,
    (runtime, { person }) => getPerson(runtime, person),
  ),

  remove: rosterVerb(withChannel, decideRemovePerson, () => ({ removed: true as const })),
  suspend: standingVerb(true),
  reinstate: standingVerb(false),
  loginLink: loginLinkVerb,
});

/** A login link without a caller to limit: for a new tenant's admin, and the first admin of a store. */
export const offerLogin = (
  runtime: Runtime,
  offer: Named & { readonly by: string; readonly forMs?: number | undefined },
  how: Via = {},
): Promise<LoginLink> => loginLinkVerb.perform({ runtime, how }, offer);

const FIRST_ROLES = ["admin", "supervisor"] as const;

/** Login link for this person; undefined if they are suspended, or not in a roster that has an admin. */
export async function firstAdminLogin(runtime: Runtime, person: string): Promise<string | undefined> {
  const members = await listPeople(runtime);
  const hasAdmin = members.some(({ roles, suspended }) => roles.includes("admin") && !suspended);
  const own = members.find((one) => one.person === person);
  if (own === undefined ? hasAdmin : own.suspended) return undefined;
  if (own === undefined) {
    const first: NewPerson = { person, roles: FIRST_ROLES, by: person };
    await peopleVerbs.verbs.add.perform({ runtime, how: {} }, first);
  }
  return (await offerLogin(runtime, { person, by: person })).link;
}

/**
 * The same for a person named by a setting, but only in an empty store, and only on the one node that added them. An
 * admin's login links do not belong in the log of every start.
 */
export async function namedFirstAdminLogin(runtime: Runtime, person: string): Promise<string | undefined> {
  checkPerson({ person });
  const answer = await runCommand(runtime, { write: [ROSTER] }, (draft) => decideFirstAdmin(draft, person));
  if (answer.kind !== "done") throw refusal(answer, person);
  if (!answer.changed) return undefined;
  const change = { person, roles: FIRST_ROLES, by: person };
  await peopleVerbs.verbs.change.perform({ runtime, how: {} }, change);
  return (await offerLogin(runtime, { person, by: person })).link;
}
