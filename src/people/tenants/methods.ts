/**
 * The tenants of a store, managed from its home tenant: `tenants` of `admin(hp)` and the operations behind it.
 * - A name is recorded in the home tenant before anything is written under it. A tenant is closed in its own journal
 *   before the home tenant records it. After a crash in between, repeating the operation completes it.
 * - A tenant that was not made here gets no first admin.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { tenantStream } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import { forgetSwitchChecks } from "../../kill-switch/switches.ts";
import type { Runtime, RuntimeOpener } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import { forgetCredentials } from "../authenticate.ts";
import { checkLinkTime, checkNewPerson, checkSaid, type Said } from "../input.ts";
import { type LoginLink, offerLogin } from "../sessions/sessions.ts";
import {
  closeOwnTenant,
  foundTenant,
  mayClose,
  recordClosing,
  registerTenant,
  type TenantNotAllowed,
} from "./rules.ts";
import { HOME_TENANT, type TenantState } from "./stream.ts";

type TenantDependencies = Pick<Runtime, "store" | "tenant" | "clock">;
type TenantMaker = TenantDependencies & Pick<Runtime, "random">;

/** `by` and `at`: who made or closed it, and when; null if a program just started to write in it. */
export type Tenant = {
  readonly name: string;
  /** Whether this is the home tenant, which manages the others. */
  readonly home: boolean;
  readonly status: "open" | "closed";
  readonly by: string | null;
  readonly at: number | null;
  readonly reason: string | null;
};

export type NewTenant = {
  readonly name: string;
  /** First admin of the new tenant: `person:<name>`. */
  readonly admin: string;
  readonly by: string;
  /** How long the login link can be used, in milliseconds. Default: ten minutes. */
  readonly forMs?: number;
};

/** The login link is returned only here and never stored. */
export type CreatedTenant = { readonly tenant: Tenant; readonly admin: string; readonly login: LoginLink };

/** Names that a credential shows unencoded. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const isTaken = (name: string, why: string, next: string): HoldpointError =>
  new HoldpointError("wrong_state", `There is a tenant ${name} already${why}.`, { next });

const closedOne = (name: string): HoldpointError =>
  isTaken(name, ", and it was closed", "Take another name: what was closed keeps its own.");

const tenantNotAllowed = ({ reason }: TenantNotAllowed): HoldpointError =>
  new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });

function checkHome({ tenant }: Pick<TenantDependencies, "tenant">): void {
  if (tenant !== HOME_TENANT)
    throw new HoldpointError("not_eligible", "Tenants are looked after from the home tenant.", {
      data: "Nothing was written.",
      next: `Do it in the tenant "${HOME_TENANT}".`,
    });
}

function tenantOf(name: string, state: TenantState): Tenant {
  const { status } = state;
  const facts = status === "none" ? { by: null, at: null } : { by: state.by, at: state.at };
  const reason = status === "closed" ? state.reason : null;
  return {
    name,
    home: name === HOME_TENANT,
    status: status === "closed" ? "closed" : "open",
    ...facts,
    reason,
  };
}

/** Status from the tenant's own journal. */
export const readTenantStatus = async (
  { store }: Pick<TenantDependencies, "store">,
  name: string,
): Promise<Tenant> => tenantOf(name, await readState({ store, tenant: name }, tenantStream(name)));

/** Names of the tenants that have entries, and the home tenant, sorted. */
async function namesOf({ store }: Pick<TenantDependencies, "store">): Promise<readonly string[]> {
  return [...new Set([HOME_TENANT, ...(await store.tenants())])].sort();
}

export async function getTenant(place: Pick<TenantDependencies, "store">, name: string): Promise<Tenant> {
  if (!(await namesOf(place)).includes(name))
    throw new HoldpointError("unknown_id", `There is no tenant ${displayValue(name)}.`, {
      next: "`holdpoint tenants` lists them.",
    });
  return readTenantStatus(place, name);
}

export type TenantPage = { readonly limit?: number; readonly after?: string };
export type TenantList = { readonly items: readonly Tenant[]; readonly next: string | null };

export async function listTenants(
  place: Pick<TenantDependencies, "store" | "tenant">,
  { limit = 100, after = "" }: TenantPage = {},
): Promise<TenantList> {
  checkHome(place);
  const names = (await namesOf(place)).filter((name) => name > after);
  const page = names.slice(0, limit);
  const items = await Promise.all(page.map((name) => readTenantStatus(place, name)));
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

/** Reserves the name in the home tenant. A tenant that a program just writes in was never reserved there. */
async function register(place: TenantDependencies, { name, by }: NewTenant, how: Via): Promise<void> {
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
  if (answer.kind === "not_allowed") throw tenantNotAllowed(answer);
  if (answer.kind === "closed") throw closedOne(name);
}

export async function addTenant(hands: TenantMaker, given: NewTenant, how: Via = {}): Promise<CreatedTenant> {
  checkHome(hands);
  const wanted = checkNew(given);
  const { name, admin, by, forMs } = wanted;
  await register(hands, wanted, how);
  const own = { ...hands, tenant: name };
  const answer = await runCommand(own, { write: [tenantStream(name)] }, (draft) =>
    foundTenant(draft, { admin, by, ...channelField(how) }),
  );
  if (answer.kind === "not_allowed") throw tenantNotAllowed(answer);
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
  return { tenant: await readTenantStatus(hands, name), admin, login };
}

/** Idempotent: closing it again changes nothing and returns its status. */
export async function closeTenant(
  place: TenantDependencies,
  name: string,
  said: Said & Via,
): Promise<Tenant> {
  checkHome(place);
  checkSaid(said);
  const { by, reason } = said;
  if (name === HOME_TENANT)
    throw new HoldpointError(
      "wrong_state",
      "The home tenant is not closed: the others are looked after there.",
      {
        next: "Stop the server, or use the kill switch: `holdpoint pause`.",
      },
    );
  await getTenant(place, name);
  const allowed = await runCommand(place, {}, (draft) => mayClose(draft, by));
  if (allowed.kind === "not_allowed") throw tenantNotAllowed(allowed);
  const own = { ...place, tenant: name };
  try {
    await runCommand(own, {}, (draft) => closeOwnTenant(draft, { by, reason, ...channelField(said) }));
  } finally {
    forgetCredentials(place.store);
    forgetSwitchChecks(place.store);
  }
  await runCommand(place, {}, (draft) => recordClosing(draft, { name, by, reason, ...channelField(said) }));
  return readTenantStatus(place, name);
}

export type Tenants = {
  /** All tenants by name, including the home tenant. Only from the home tenant. */
  list(page?: TenantPage): Promise<TenantList>;
  /** A tenant that has entries. */
  get(name: string): Promise<Tenant>;
  /** Makes a tenant with its first admin and their login link. Only from the home tenant. */
  add(tenant: NewTenant): Promise<CreatedTenant>;
  /** Closes it for good: its credentials stop working, none is issued, and nothing in it starts. Its data is kept. */
  close(name: string, said: Said): Promise<Tenant>;
};

const TENANT = "A tenant";

function checkPage(page: TenantPage): TenantPage {
  const { limit, after } = checkFields("A page of tenants", page, ["limit", "after"]);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 1_000))
    rejectInput("A limit is a whole number from 1 to 1000.");
  if (after !== undefined && typeof after !== "string") rejectInput(`"after" is a text.`);
  return page;
}

export function tenantMethods(open: RuntimeOpener): Tenants {
  return {
    list: async (page = {}) => listTenants(await open(), checkPage(page)),
    get: async (name) => getTenant(await open(), checkId(TENANT, name)),
    add: async (tenant) => addTenant(await open(), tenant),
    close: async (name, said) =>
      closeTenant(await open(), checkId(TENANT, name), checkFields("What is said", said, ["by", "reason"])),
  };
}
