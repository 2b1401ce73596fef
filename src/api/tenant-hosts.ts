/** One host per tenant over one store: opened at the tenant's first request, closed with the server or the tenant. */

import { HoldpointError } from "../kernel/errors.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** Serves the requests of one tenant. */
export type TenantHost = {
  readonly tenant: string;
  readonly runtime: Runtime;
  /** Signals that there may be new work to run. */
  wake(): void;
  /** Starts no new work here from now on. */
  rest(): void;
  close(): Promise<void>;
};

type OpenTenantHost = (tenant: string) => Promise<TenantHost>;

export type TenantHosts = {
  of(tenant: string): Promise<TenantHost>;
  /** Called for every host that opens from now on. */
  opened(listener: (office: TenantHost) => void): void;
  /** Called for every host whose tenant was closed. */
  left(listener: (office: TenantHost) => void): void;
  /** Hosts that are open now. */
  open(): Promise<readonly TenantHost[]>;
  /** Starts no new work in any host from now on. */
  rest(): void;
  /** Closes a host for good, because its tenant was closed. */
  leave(tenant: string): Promise<void>;
  close(): Promise<void>;
};

const tenantClosedError = (tenant: string): HoldpointError =>
  new HoldpointError("tenant_closed", `The tenant ${tenant} was closed: nothing is worked on in it.`);

export function createTenantHosts(openOffice: OpenTenantHost): TenantHosts {
  const offices = new Map<string, Promise<TenantHost>>();
  const leaving = new Map<string, Promise<void>>();
  const listeners: ((office: TenantHost) => void)[] = [];
  const leavers: ((office: TenantHost) => void)[] = [];
  let isClosed = false;
  let isResting = false;
  const told = (office: TenantHost): TenantHost => {
    if (isResting) office.rest();
    for (const listener of listeners) listener(office);
    return office;
  };
  const settled = async (): Promise<readonly TenantHost[]> => {
    const all = await Promise.allSettled(offices.values());
    return all.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  };
  const depart = async (opening: Promise<TenantHost> | undefined): Promise<void> => {
    const office = await opening?.catch(() => undefined);
    if (office === undefined) return;
    for (const listener of leavers) listener(office);
    await office.close();
  };
  return {
    of(tenant) {
      if (isClosed) return Promise.reject(new HoldpointError("closed", "The server is closing."));
      if (leaving.has(tenant)) return Promise.reject(tenantClosedError(tenant));
      const known = offices.get(tenant);
      if (known !== undefined) return known;
      const opening = openOffice(tenant).then(told, (error: unknown) => {
        offices.delete(tenant);
        throw error;
      });
      offices.set(tenant, opening);
      return opening;
    },
    opened: (listener) => void listeners.push(listener),
    left: (listener) => void leavers.push(listener),
    open: settled,
    rest() {
      isResting = true;
      for (const opening of offices.values()) opening.then(({ rest }) => rest()).catch(() => undefined);
    },
    leave(tenant) {
      const gone = leaving.get(tenant) ?? depart(offices.get(tenant));
      leaving.set(tenant, gone);
      offices.delete(tenant);
      return gone;
    },
    async close() {
      isClosed = true;
      // A host that cannot close, or is still opening, does not block the others.
      const close = async (opening: Promise<TenantHost>) => (await opening.catch(() => undefined))?.close();
      const ends = await Promise.allSettled([...offices.values()].map(close));
      // The callers of `leave` already received these errors.
      await Promise.allSettled(leaving.values());
      const failed = ends.find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}
