/** Counts of the views over the tenants that are open here, or of one of them. */
import type { Whose } from "./metrics/metrics.ts";
import type { Tenants } from "./tenants.ts";

export type Totals = {
  inDoubt(whose: Whose): Promise<number>;
  pending(whose: Whose): Promise<number>;
};

export function totalsOf(tenants: Pick<Tenants, "open">): Totals {
  const total = async (whose: Whose, view: string, bucket: string): Promise<number> => {
    const open = await tenants.open();
    const offices = open.filter(({ tenant }) => whose === "all" || whose.tenant === tenant);
    const counts = offices.map(({ runtime, tenant }) => runtime.store.count(tenant, view, bucket));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  return {
    inDoubt: (whose) => total(whose, "actions", "in_doubt"),
    pending: (whose) => total(whose, "approvals", "pending"),
  };
}
