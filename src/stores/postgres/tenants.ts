import { checkText } from "../check-text.ts";
import { type Ask, numberAt, textAt } from "./ask.ts";
import { checkTenantLength, fromText, toText } from "./text-key.ts";

export type Tenants = {
  /** undefined: nothing was ever written for this tenant. */
  find(tenant: string): Promise<number | undefined>;
  ensure(tenant: string): Promise<number>;
  withEntries(): Promise<readonly string[]>;
};

export function prepareTenants({ ask }: Ask, schema: string): Tenants {
  const select = {
    name: "hp_tenant",
    text: `SELECT tid FROM ${schema}.hp_tenants WHERE tenant = $1`,
  };
  const insert = {
    name: "hp_new_tenant",
    text: `INSERT INTO ${schema}.hp_tenants (tenant) VALUES ($1) ON CONFLICT (tenant) DO NOTHING`,
  };
  const list = {
    name: "hp_tenants",
    text: `SELECT tenant FROM ${schema}.hp_tenants t
      WHERE EXISTS (SELECT 1 FROM ${schema}.hp_streams s WHERE s.tid = t.tid AND s.seq > 0)`,
  };
  const known = new Map<string, number>();
  const find = async (tenant: string): Promise<number | undefined> => {
    const cached = known.get(tenant);
    if (cached !== undefined) return cached;
    const [rows] = await ask("ids", { statement: select, values: [toText(tenant)] });
    const row = rows?.[0];
    if (row === undefined) return undefined;
    known.set(tenant, numberAt(row, 0));
    return numberAt(row, 0);
  };
  return {
    find,
    async ensure(tenant) {
      const cached = known.get(tenant) ?? (await find(tenant));
      if (cached !== undefined) return cached;
      checkTenantLength(checkText("tenant", tenant));
      await ask("ids", { statement: insert, values: [toText(tenant)] });
      return (await find(tenant)) ?? 0;
    },
    async withEntries() {
      const [rows = []] = await ask("ids", { statement: list });
      return rows.map((row) => fromText(textAt(row, 0))).sort();
    },
  };
}
