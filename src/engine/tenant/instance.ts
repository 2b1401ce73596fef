/** What an instance offers about the tenants of its store. */
import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import type { Opening } from "../instance.ts";
import type { Said } from "../operate.ts";
import {
  addTenant,
  closeTenant,
  getTenant,
  listTenants,
  type MadeTenant,
  type NewTenant,
  type Tenant,
  type TenantList,
  type TenantPage,
} from "./tenants.ts";

export type Tenants = {
  /** By name, with the home tenant; only from there. */
  list(page?: TenantPage): Promise<TenantList>;
  /** One in which something was written. */
  get(name: string): Promise<Tenant>;
  /** Makes one, with its first admin and a link by which they log in; only from the home tenant. */
  add(tenant: NewTenant): Promise<MadeTenant>;
  /** For good: no credential of it works, none is made, nothing in it starts. What it holds is kept. */
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

export function tenantsOf(open: Opening): Tenants {
  return {
    list: async (page = {}) => listTenants(await open(), checkPage(page)),
    get: async (name) => getTenant(await open(), checkId(TENANT, name)),
    add: async (tenant) => addTenant(await open(), tenant),
    close: async (name, said) =>
      closeTenant(await open(), checkId(TENANT, name), checkFields("What is said", said, ["by", "reason"])),
  };
}
