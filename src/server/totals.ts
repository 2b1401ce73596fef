/** Counts of the views over the tenants that are open here, or of one of them. */
import type { InHand } from "./metrics/node.ts";
import type { Whose } from "./metrics/whose.ts";
import type { Office, Tenants } from "./tenants.ts";

/** Under which names runs of workflows and effects are performed; deliveries and monitors have others. */
const isWorkflow = (name: string): boolean => name.startsWith("workflow ");
const isEffect = (name: string): boolean => name.startsWith("act_");

export type Totals = {
  inDoubt(whose: Whose): Promise<number>;
  pending(whose: Whose): Promise<number>;
};

const officesOf = async (tenants: Pick<Tenants, "open">, whose: Whose): Promise<readonly Office[]> =>
  (await tenants.open()).filter(({ tenant }) => whose === "all" || whose.tenant === tenant);

/** What this process has in hand, of its own. */
export async function inHandOf(tenants: Pick<Tenants, "open">, whose: Whose): Promise<InHand> {
  const offices = await officesOf(tenants, whose);
  const names = offices.flatMap(({ runtime }) => [...runtime.performing]);
  const epochs = (await Promise.all(offices.map(({ runtime }) => runtime.begunEpoch()))).flatMap(
    (epoch) => epoch ?? [],
  );
  const left = epochs.flatMap((epoch) => epoch.leaseLeftMs() ?? []);
  return {
    workflows: names.filter(isWorkflow).length,
    effects: names.filter(isEffect).length,
    epochs: epochs.map(({ id }) => id),
    leaseLeftMs: left.length === 0 ? null : Math.min(...left),
  };
}

export function totalsOf(tenants: Pick<Tenants, "open">): Totals {
  const total = async (whose: Whose, view: string, bucket: string): Promise<number> => {
    const offices = await officesOf(tenants, whose);
    const counts = offices.map(({ runtime, tenant }) => runtime.store.count(tenant, view, bucket));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  return {
    inDoubt: (whose) => total(whose, "actions", "in_doubt"),
    pending: (whose) => total(whose, "approvals", "pending"),
  };
}
