import type { DatabaseSync } from "node:sqlite";

export type Tenants = {
  /** undefined: nothing was ever written for this tenant. */
  find(tenant: string): number | undefined;
  ensure(tenant: string): number;
  name(tid: number): string;
  /** After a rollback: numbers given out in it are not in the file. */
  forget(): void;
  withEntries(): readonly string[];
};

export function prepareTenants(db: DatabaseSync): Tenants {
  const select = db.prepare("SELECT tid FROM hp_tenants WHERE tenant = ?");
  const insert = db.prepare("INSERT INTO hp_tenants (tenant) VALUES (?)");
  const byNumber = db.prepare("SELECT tenant FROM hp_tenants WHERE tid = ?");
  const list = db.prepare(
    "SELECT tenant FROM hp_tenants t WHERE EXISTS (SELECT 1 FROM hp_streams s WHERE s.tid = t.tid)",
  );
  const known = new Map<string, number>();
  const find = (tenant: string): number | undefined => {
    const cached = known.get(tenant);
    if (cached !== undefined) return cached;
    const row = select.get(tenant);
    if (row === undefined) return undefined;
    known.set(tenant, Number(row["tid"]));
    return Number(row["tid"]);
  };
  return {
    find,
    ensure(tenant) {
      const found = find(tenant);
      if (found !== undefined) return found;
      const tid = Number(insert.run(tenant).lastInsertRowid);
      known.set(tenant, tid);
      return tid;
    },
    name: (tid) => String(byNumber.get(tid)?.["tenant"]),
    forget: () => known.clear(),
    withEntries: () =>
      list
        .all()
        .map((row) => String(row["tenant"]))
        .sort(),
  };
}
