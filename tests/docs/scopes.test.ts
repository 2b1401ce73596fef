import assert from "node:assert/strict";
import { test } from "node:test";
import { SCOPES } from "../../src/kernel/registry.ts";
import { ROLE_SCOPES, scopesOf } from "../../src/people/rules/scopes.ts";
import { ROLES } from "../../src/people/stream.ts";
import { HOME_TENANT } from "../../src/people/tenants/stream.ts";

import { readRoot } from "./markdown.ts";

const page = readRoot("docs/guide/people-and-keys.md");

test("docs/guide/people-and-keys.md says of every scope which role brings it, and whether an agent can have it", () => {
  const agent = scopesOf({ tenant: HOME_TENANT, principal: "agent:a", roles: ROLES }, null);
  const rows = SCOPES.map((scope) => {
    const cells = ROLES.map((role) => (ROLE_SCOPES[role].includes(scope) ? "yes" : ""));
    return `| \`${scope}\` | ${cells.join(" | ")} | ${agent.includes(scope) ? "yes" : "never"} |`;
  });
  const [, table = ""] = page.split("\n## Scopes\n");
  assert.match(table, new RegExp(`\\| scope \\| ${ROLES.join(" \\| ")} \\|`));
  assert.deepEqual(
    table.split("\n").filter((line) => line.startsWith("| `")),
    rows,
  );
});

test("docs/guide/people-and-keys.md has every role, and no other", () => {
  const [, roles = ""] = page.split("| role | what it is there for |");
  const named = [...(roles.split("\n\n")[0] ?? "").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(named, ROLES);
});
