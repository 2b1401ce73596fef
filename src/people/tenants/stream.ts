/**
 * A tenant's status. Its stream is named after the tenant and exists twice: in the tenant's own journal, where rules
 * read it, and in the home tenant's, which records who made and closed it.
 *
 * - A closed tenant stays closed, and its name stays reserved: its data is kept under that name.
 * - The home tenant is never closed, because it manages the others.
 */
import { eventBody, type Fold, type StreamRef, tenantStream } from "../../kernel/stream.ts";

/** The first tenant of a store: the default for programs and commands. */
export const HOME_TENANT = "default";

/** A tenant that was never made explicitly exists as soon as something is written in it. */
export type TenantState =
  | { readonly status: "none" }
  | { readonly status: "open"; readonly by: string; readonly at: number }
  | { readonly status: "closed"; readonly by: string; readonly reason: string; readonly at: number };

export const tenantFold: Fold<TenantState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, event) {
    const { by, reason } = eventBody("A tenant", event, ["tenant.added", "tenant.closed"]);
    if (state.status === "closed") return state;
    if (event.type === "tenant.added") return { status: "open", by: String(by), at: event.at };
    return { status: "closed", by: String(by), reason: String(reason), at: event.at };
  },
};

/** The stream in which a tenant's own journal holds its status. */
export const readOwnTenant = ({ tenant }: { readonly tenant: string }): StreamRef<"tenant"> =>
  tenantStream(tenant);
