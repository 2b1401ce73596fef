/** What is stopped: the kill switches that are on, of the tenant, of agents and services, and of workflows. */
import { type Stopped, stoppedOf } from "../core/switch.ts";
import { checkFields } from "../kernel/fields.ts";
import { rowPage } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ViewRow } from "../stores/store.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type Stop = {
  readonly whose: Stopped;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
};
export type StopPage = { readonly limit?: number; readonly after?: string };
export type StopList = { readonly items: readonly Stop[]; readonly next: string | null };

const isScope = (id: unknown): boolean => typeof id === "string" && id !== "";
const LIST = { view: "switches", kind: "switch", isName: isScope, order: "newest" } as const;

const stopOf = ({ stream, at, data }: ViewRow): Stop => ({
  whose: stoppedOf(stream.id),
  by: String(data["by"]),
  reason: String(data["reason"]),
  at,
});

/** The latest first. */
export async function listStops(place: Place, page: StopPage = {}): Promise<StopList> {
  const { limit = 100, after } = checkFields("A page of stops", page, ["limit", "after"]);
  const { rows, next } = await rowPage(place, { ...LIST, limit, after });
  return { items: rows.map(stopOf), next };
}

/** Of single agents, services and workflows; the tenant's own is asked for by itself. */
export async function countStops({ store, tenant }: Place): Promise<number> {
  const [agents, workflows] = await Promise.all([
    store.count(tenant, "switches", "agent"),
    store.count(tenant, "switches", "workflow"),
  ]);
  return agents + workflows;
}
