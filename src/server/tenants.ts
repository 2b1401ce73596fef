/** One office per tenant over one store: opened when somebody of that tenant first asks, closed with the server. */
import { HoldpointError } from "../core/errors.ts";
import type { Endpoints } from "../engine/message/endpoints.ts";
import type { Messages } from "../engine/message/messages.ts";
import type { Runtime } from "../engine/runtime.ts";

/** What a tenant's requests are worked on with. */
export type Office = {
  readonly tenant: string;
  readonly runtime: Runtime;
  readonly endpoints: Endpoints;
  readonly messages: Messages;
  /** Something may have to be run that was not a moment ago. */
  wake(): void;
  close(): Promise<void>;
};

export type OpenOffice = (tenant: string) => Promise<Office>;

export type Tenants = {
  of(tenant: string): Promise<Office>;
  /** Told of every one that opens from now on. */
  opened(listener: (office: Office) => void): void;
  /** Those that are open now. */
  open(): Promise<readonly Office[]>;
  close(): Promise<void>;
};

export function createTenants(openOffice: OpenOffice): Tenants {
  const offices = new Map<string, Promise<Office>>();
  const listeners: ((office: Office) => void)[] = [];
  let isClosed = false;
  const told = (office: Office): Office => {
    for (const listener of listeners) listener(office);
    return office;
  };
  const settled = async (): Promise<readonly Office[]> => {
    const all = await Promise.allSettled(offices.values());
    return all.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  };
  return {
    of(tenant) {
      if (isClosed) return Promise.reject(new HoldpointError("closed", "The server is closing."));
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
    open: settled,
    async close() {
      isClosed = true;
      await Promise.all((await settled()).map((office) => office.close()));
    },
  };
}
