/** A server with two tenants, one of them furnished, and a key for each kind of principal in each role. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ROLE_SCOPES } from "../../src/people/rules/scopes.ts";
import { ROLES, type Role } from "../../src/people/stream.ts";

import type { Runtime } from "../../src/runtime/runtime.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";
import { type Listed, listRoutes } from "./listed.ts";
import { define, furnish, type World } from "./world.ts";

export const OWN = "acme";
export const OTHER = "globex";
export const by = "person:root";
const FAST = { rate: 1_000_000, burst: 1_000_000, listeners: 1_000 };

/** Whatever decides about people or rules is theirs: said here once more, apart from the table. */
const OF_PEOPLE =
  /^(approvals:decide|effects:resolve|grants:write|switch:write|budgets:write|policies:write|alerts:acknowledge|people:write|keys:write|tenants:manage)$/;
export const OF_HOME = "tenants:manage";

export const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

export type Bearer = { readonly who: string; readonly role: Role; readonly text: string };

export async function bearersOf(runtime: Runtime): Promise<readonly Bearer[]> {
  const bearers: Bearer[] = [];
  for (const role of ROLES) {
    await addPerson(runtime, { person: `person:${role}`, roles: [role], by });
    for (const kind of ["person", "agent", "service"]) {
      const roles = kind === "person" ? {} : { roles: [role] };
      const { text } = await issueApiKey(runtime, { principal: `${kind}:${role}`, name: role, ...roles, by });
      bearers.push({ who: kind, role, text });
    }
  }
  return bearers;
}

export const isScopeRefusal = ({ status, body }: Answered): boolean =>
  status === 403 && body["code"] === "forbidden" && String(body["detail"]).startsWith("This needs the scope");

export function mayAsk({ who, role }: Bearer, { scope, orScope = "" }: Listed): boolean {
  if (scope === null || scope === "any") return true;
  // Neither of the two tenants is the home tenant.
  if (scope === OF_HOME) return false;
  const brought: readonly string[] = ROLE_SCOPES[role];
  return [scope, orScope].some((one) => brought.includes(one) && (who === "person" || !OF_PEOPLE.test(one)));
}

export type Site = {
  /** Holds the data folder, `data`, and the key file, `key.json`. */
  readonly folder: string;
  readonly bench: Bench;
  readonly routes: readonly Listed[];
  readonly world: World;
  readonly own: Runtime;
  readonly other: Runtime;
};

export async function openSite(context: Pick<TestContext, "after">): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-matrix-"));
  let instance: Parameters<typeof define>[0] | undefined;
  let declared: ReturnType<typeof define> | undefined;
  const bench = await serverBench(context, {
    ...{ noAuth: false, folder, ...FAST },
    define(hp) {
      instance = hp;
      declared = define(hp);
    },
  });
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const { runtime: other } = await bench.server.office(OTHER);
  await addPerson(other, { person: by, roles: ROLES, by });
  const { runtime: own } = await bench.server.office(OWN);
  assert.ok(instance !== undefined && declared !== undefined);
  const world = await furnish(instance, declared, { folder, tenant: OWN });
  return { folder, bench, routes: await listRoutes(bench), world, own, other };
}
