import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SCOPES } from "../../kernel/registry.ts";
import { ROLES } from "../stream.ts";
import { HOME_TENANT } from "../tenants/stream.ts";
import { ROLE_SCOPES, scopesOf } from "./scopes.ts";

const OF_PEOPLE = ["approvals:decide", "effects:resolve", "grants:write", "switch:write"] as const;
const TAKES_OVER = [
  "keys:write",
  "people:write",
  "policies:write",
  "budgets:write",
  "tenants:manage",
] as const;

describe("scopes", () => {
  test("an agent or a service never has one that decides for people, whatever its roles", () => {
    for (const principal of ["agent:mailer", "service:billing"]) {
      const scopes = scopesOf({ tenant: HOME_TENANT, principal, roles: ROLES }, null);
      for (const scope of [...OF_PEOPLE, ...TAKES_OVER]) assert.ok(!scopes.includes(scope), scope);
      assert.ok(scopes.includes("actions:propose"));
    }
  });

  test("a person with every role, and an admin, have all", () => {
    assert.deepEqual(scopesOf({ tenant: HOME_TENANT, principal: "person:ann", roles: ROLES }, null), SCOPES);
    assert.deepEqual(
      scopesOf({ tenant: HOME_TENANT, principal: "person:ann", roles: ["admin"] }, null),
      SCOPES,
    );
  });

  test("an admin of another tenant has nothing to say about tenants", () => {
    const elsewhere = scopesOf({ tenant: "acme", principal: "person:ann", roles: ROLES }, null);
    assert.deepEqual(
      elsewhere,
      SCOPES.filter((scope) => scope !== "tenants:manage"),
    );
    assert.deepEqual(
      scopesOf({ tenant: "acme", principal: "person:ann", roles: ROLES }, ["tenants:manage"]),
      [],
    );
  });

  test("nobody without a role has any", () => {
    assert.deepEqual(scopesOf({ tenant: HOME_TENANT, principal: "person:ann", roles: [] }, null), []);
    assert.deepEqual(scopesOf({ tenant: HOME_TENANT, principal: "person:ann", roles: [] }, SCOPES), []);
  });

  test("narrowing takes away and never adds", () => {
    for (const role of ROLES)
      for (const scope of SCOPES) {
        const narrowed = scopesOf({ tenant: HOME_TENANT, principal: "person:ann", roles: [role] }, [scope]);
        assert.deepEqual(narrowed, ROLE_SCOPES[role].includes(scope) ? [scope] : []);
      }
  });

  test("an auditor reads everything and changes nothing", () => {
    for (const scope of SCOPES.filter((one) => one.endsWith(":read")))
      assert.ok(ROLE_SCOPES.auditor.includes(scope), scope);
    for (const scope of ROLE_SCOPES.auditor) assert.match(scope, /:(read|verify)$/);
  });

  test("only those decide, resolve and drive who are there for it", () => {
    const having = (scope: (typeof SCOPES)[number]) =>
      ROLES.filter((role) => ROLE_SCOPES[role].includes(scope)).join(" ");
    assert.equal(having("approvals:decide"), "admin supervisor");
    assert.equal(having("effects:resolve"), "admin verifier");
    assert.equal(having("actions:propose"), "admin executor");
    assert.equal(having("workflows:drive"), "admin executor");
    assert.equal(having("workflows:write"), "admin poster supervisor");
    assert.equal(having("keys:write"), "admin");
    assert.equal(having("people:write"), "admin");
    assert.equal(having("tenants:manage"), "admin");
  });
});
