/**
 * Implementation of the verbs of tenants. They are managed from the home tenant.
 * - A name is recorded in the home tenant before anything is written under it. A tenant is closed in its own journal
 *   before the home tenant records it. After a crash in between, repeating the operation completes it.
 * - A tenant that was not made here gets no first admin.
 */
import { unknownId } from "../../kernel/contract.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { tenantStream } from "../../kernel/stream.ts";
import { forgetSwitchChecks } from "../../kill-switch/switches.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import { capability, notEligible, readVerb, runVerb } from "../../runtime/verb.ts";
import { forgetCredentials } from "../authenticate.ts";
import { offerLogin } from "../verbs.ts";
import { type CreatedTenant, type NewTenant, type Tenant, tenants } from "./contract.ts";
import { closeOwnTenant, foundTenant, mayClose, recordClosing, registerTenant } from "./rules.ts";
import { HOME_TENANT, type TenantState } from "./stream.ts";

type TenantDependencies = Pick<Runtime, "store" | "tenant" | "clock">;

const isTaken = (name: string, why: string, next: string): HoldpointError =>
  new HoldpointError("wrong_state", `There is a tenant ${name} already${why}.`, { next });

const closedOne = (name: string): HoldpointError =>
  isTaken(name, ", and it was closed", "Take another name: what was closed keeps its own.");

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

async function getTenant(place: Pick<TenantDependencies, "store">, name: string): Promise<Tenant> {
  if (!(await namesOf(place)).includes(name)) throw unknownId(tenants, name);
  return readTenantStatus(place, name);
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
  if (answer.kind === "not_allowed") throw notEligible(answer.reason);
  if (answer.kind === "closed") throw closedOne(name);
}

async function addTenant(runtime: Runtime, given: NewTenant, how: Via): Promise<CreatedTenant> {
  checkHome(runtime);
  const { name, admin, by, forMs } = given;
  await register(runtime, given, how);
  const own = { ...runtime, tenant: name };
  const answer = await runCommand(own, { write: [tenantStream(name)] }, (draft) =>
    foundTenant(draft, { admin, by, ...channelField(how) }),
  );
  if (answer.kind === "not_allowed") throw notEligible(answer.reason);
  if (answer.kind === "closed") throw closedOne(name);
  if (answer.kind === "peopled")
    throw isTaken(
      name,
      "",
      `Its admins look after it. Where its store is: holdpoint login-link <person> --tenant ${name}`,
    );
  const login = await offerLogin(own, { person: admin, by, forMs }, how);
  return { tenant: await readTenantStatus(runtime, name), admin, login };
}

type Closing = Via & { readonly name: string; readonly by: string; readonly reason: string };

/** Idempotent: closing it again changes nothing and returns its status. */
async function closeTenant(runtime: Runtime, closing: Closing): Promise<Tenant> {
  const { name, by } = closing;
  checkHome(runtime);
  if (name === HOME_TENANT)
    throw new HoldpointError(
      "wrong_state",
      "The home tenant is not closed: the others are looked after there.",
      { next: "Stop the server, or use the kill switch: `holdpoint pause`." },
    );
  await getTenant(runtime, name);
  const allowed = await runCommand(runtime, {}, (draft) => mayClose(draft, by));
  if (allowed.kind === "not_allowed") throw notEligible(allowed.reason);
  try {
    await runCommand({ ...runtime, tenant: name }, {}, (draft) => closeOwnTenant(draft, closing));
  } finally {
    forgetCredentials(runtime.store);
    forgetSwitchChecks(runtime.store);
  }
  await runCommand(runtime, {}, (draft) => recordClosing(draft, closing));
  return readTenantStatus(runtime, name);
}

export const tenantVerbs = capability(tenants, {
  list: readVerb(async (runtime, { limit = 100, after = "" }) => {
    checkHome(runtime);
    const names = (await namesOf(runtime)).filter((name) => name > after);
    const page = names.slice(0, limit);
    const items = await Promise.all(page.map((name) => readTenantStatus(runtime, name)));
    return { items, next: names.length > page.length ? (page.at(-1) ?? null) : null };
  }),
  add: runVerb(({ runtime, how }, given) => addTenant(runtime, given, how)),
  get: readVerb((runtime, { tenant }) => getTenant(runtime, tenant)),
  close: runVerb(({ runtime, how }, { tenant: name, by, reason }) =>
    closeTenant(runtime, { name, by, reason, ...channelField(how) }),
  ),
});
