/**
 * The tenants of a store, looked after from its home tenant.
 *
 * K1. A name is recorded at home before anything is written under it, and a tenant is shut in its own journal before that is recorded
 *     at home: whatever is lost in between, the same verb done again ends it.
 * K2. A tenant that was not made here is nobody's to move into: it is given no first admin.
 */

import {
  foundTenant,
  mayClose,
  type NotAllowed,
  recordClosing,
  registerTenant,
  shutTenant,
} from "../../core/tenant/rules.ts";
import { HOME, type TenantState } from "../../core/tenant/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { tenantStream } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import { forgetFree } from "../free-switches.ts";
import { forgetCredentials } from "../identity/authenticate.ts";
import { checkLinkTime, checkNewPerson } from "../identity/check-identity.ts";
import { type LoginLink, offerLogin } from "../identity/logins.ts";
import { checkSaid, type Said } from "../operate.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;
type Hands = Place & Pick<Runtime, "random">;

/** `by` and `at`: who made or closed it, and when; null for one that a program began to write in. */
export type Tenant = {
  readonly name: string;
  /** The one from which the others are looked after. */
  readonly home: boolean;
  readonly status: "open" | "closed";
  readonly by: string | null;
  readonly at: number | null;
  readonly reason: string | null;
};

export type NewTenant = {
  readonly name: string;
  /** The first admin: `person:<name>`, in the new tenant. */
  readonly admin: string;
  readonly by: string;
  /** How long the login link can be used, in milliseconds; ten minutes unless set. */
  readonly forMs?: number;
};

/** The link is answered this once and kept nowhere. */
export type MadeTenant = { readonly tenant: Tenant; readonly admin: string; readonly login: LoginLink };

/** Names that a credential shows as they are. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const isTaken = (name: string, why: string, next: string): HoldpointError =>
  new HoldpointError("wrong_state", `There is a tenant ${name} already${why}.`, { next });

const closedOne = (name: string): HoldpointError =>
  isTaken(name, ", and it was closed", "Take another name: what was closed keeps its own.");

const notAllowed = ({ reason }: NotAllowed): HoldpointError =>
  new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });

function checkHome({ tenant }: Pick<Place, "tenant">): void {
  if (tenant !== HOME)
    throw new HoldpointError("not_eligible", "Tenants are looked after from the home tenant.", {
      data: "Nothing was written.",
      next: `Do it in the tenant "${HOME}".`,
    });
}

function tenantOf(name: string, state: TenantState): Tenant {
  const { status } = state;
  const facts = status === "none" ? { by: null, at: null } : { by: state.by, at: state.at };
  const reason = status === "closed" ? state.reason : null;
  return { name, home: name === HOME, status: status === "closed" ? "closed" : "open", ...facts, reason };
}

/** How it stands by its own journal. */
export const standingOf = async ({ store }: Pick<Place, "store">, name: string): Promise<Tenant> =>
  tenantOf(name, await readState({ store, tenant: name }, tenantStream(name)));

/** In which something was written, and the home tenant, by name. */
async function namesOf({ store }: Pick<Place, "store">): Promise<readonly string[]> {
  return [...new Set([HOME, ...(await store.tenants())])].sort();
}

export async function getTenant(place: Pick<Place, "store">, name: string): Promise<Tenant> {
  if (!(await namesOf(place)).includes(name))
    throw new HoldpointError("unknown_id", `There is no tenant ${displayValue(name)}.`, {
      next: "`holdpoint tenants` lists them.",
    });
  return standingOf(place, name);
}

export type TenantPage = { readonly limit?: number; readonly after?: string };
export type TenantList = { readonly items: readonly Tenant[]; readonly next: string | null };

export async function listTenants(
  place: Pick<Place, "store" | "tenant">,
  { limit = 100, after = "" }: TenantPage = {},
): Promise<TenantList> {
  checkHome(place);
  const names = (await namesOf(place)).filter((name) => name > after);
  const page = names.slice(0, limit);
  const items = await Promise.all(page.map((name) => standingOf(place, name)));
  return { items, next: names.length > page.length ? (page.at(-1) ?? null) : null };
}

function checkNew(given: NewTenant): NewTenant {
  const { name, admin, by, forMs } = checkFields("A tenant", given, ["name", "admin", "by", "forMs"]);
  if (typeof name !== "string" || !NAME.test(name))
    rejectInput(
      `"${displayValue(name)}" is no tenant's name: small letters, digits and hyphens, at most 63.`,
    );
  checkNewPerson({ person: admin, by });
  checkLinkTime(forMs);
  return { ...given };
}

/** Takes the name at home. One that a program writes in was never taken there. */
async function register(place: Place, { name, by }: NewTenant, how: Via): Promise<void> {
  const isKnown = (await readState(place, tenantStream(name))).status !== "none";
  if (!isKnown && (await namesOf(place)).includes(name))
    throw isTaken(
      name,
      ", and it was not made here",
      `Add people to it where its store is: holdpoint people add <person> --role admin --tenant ${name}`,
    );
  const answer = await runCommand(place, { write: [tenantStream(name)] }, (draft) =>
    registerTenant(draft, { name, by, ...channelField(how) }),
  );
  if (answer.kind === "not_allowed") throw notAllowed(answer);
  if (answer.kind === "closed") throw closedOne(name);
}

export async function addTenant(hands: Hands, given: NewTenant, how: Via = {}): Promise<MadeTenant> {
  checkHome(hands);
  const wanted = checkNew(given);
  const { name, admin, by, forMs } = wanted;
  await register(hands, wanted, how);
  const own = { ...hands, tenant: name };
  const answer = await runCommand(own, { write: [tenantStream(name)] }, (draft) =>
    foundTenant(draft, { admin, by, ...channelField(how) }),
  );
  if (answer.kind === "not_allowed") throw notAllowed(answer);
  if (answer.kind === "closed") throw closedOne(name);
  if (answer.kind === "peopled")
    throw isTaken(
      name,
      "",
      `Its admins look after it. Where its store is: holdpoint login-link <person> --tenant ${name}`,
    );
  const login = await offerLogin(own, admin, {
    by,
    ...channelField(how),
    ...(forMs === undefined ? {} : { forMs }),
  });
  return { tenant: await standingOf(hands, name), admin, login };
}

/** Done again it changes nothing, and answers how it stands. */
export async function closeTenant(place: Place, name: string, said: Said & Via): Promise<Tenant> {
  checkHome(place);
  checkSaid(said);
  const { by, reason } = said;
  if (name === HOME)
    throw new HoldpointError(
      "wrong_state",
      "The home tenant is not closed: the others are looked after there.",
      {
        next: "Stop the server, or use the kill switch: `holdpoint stop`.",
      },
    );
  await getTenant(place, name);
  const allowed = await runCommand(place, {}, (draft) => mayClose(draft, by));
  if (allowed.kind === "not_allowed") throw notAllowed(allowed);
  const own = { ...place, tenant: name };
  try {
    await runCommand(own, {}, (draft) => shutTenant(draft, { by, reason, ...channelField(said) }));
  } finally {
    forgetCredentials(place.store);
    forgetFree(place.store);
  }
  await runCommand(place, {}, (draft) => recordClosing(draft, { name, by, reason, ...channelField(said) }));
  return standingOf(place, name);
}
