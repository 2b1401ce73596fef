/** A tenant that a newer node has written to: older nodes leave it alone, and work for the others. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { LogLine } from "../../src/api/log.ts";
import { followTenants, openAllTenants } from "../../src/api/open-tenant-host.ts";
import type { TenantHost, TenantHosts } from "../../src/api/tenant-hosts.ts";
import { tenantStream } from "../../src/kernel/stream.ts";
import { openConfiguredStore } from "../../src/open.ts";

import { until } from "../fixtures/until.ts";
import { annotate, caseStream, openNewer } from "./newer-program.ts";

test("one tenant that a newer node has written to keeps no other from being opened or left, and is told of once", {
  timeout: 30_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-newer-"));
  const older = await openConfiguredStore({ folder });
  const newer = await openNewer({ folder });
  t.after(async () => {
    await newer.close();
    await older.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await annotate(newer, tenantStream("first"), { tenant: "first" });
  await annotate(newer, caseStream("17"), { tenant: "second", type: "case.opened" });

  const opened = new Set<string>();
  let looks = 0;
  const officeOf = (tenant: string) => ({ tenant }) as TenantHost;
  const tenants: Pick<TenantHosts, "of" | "open" | "leave"> = {
    async of(tenant) {
      opened.add(tenant);
      return officeOf(tenant);
    },
    async open() {
      looks++;
      return ["first", "second"].map(officeOf);
    },
    leave: async () => undefined,
  };
  await openAllTenants(older, tenants);
  assert.deepEqual([...opened], ["default", "second"]);

  opened.clear();
  const said: LogLine[] = [];
  const over = new AbortController();
  const kept = followTenants(older, tenants, { log: (line) => void said.push(line), over: over.signal });
  await until(() => (looks >= 2 ? true : undefined), "a second look");
  over.abort();
  await kept;
  assert.deepEqual([...opened], ["default", "second"]);
  assert.equal(said.length, 1, JSON.stringify(said));
});
