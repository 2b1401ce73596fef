/** The endpoints that are on, with the place in the log from which on each is told of entries. */
import type { Target } from "../../core/message/endpoint-state.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type KnownEndpoint = {
  readonly id: string;
  readonly target: Target;
  readonly events: readonly string[];
  readonly owner: string;
  /** Where it was added. */
  readonly since: number;
};

/** A message that waits is in one of them. */
export const OUTBOXES = ["outbox", "outbox_again"] as const;

/** What was added where does not change: read once. */
export type Places = Map<string, number>;

async function placeOf({ store, tenant }: Place, id: string, known: Places): Promise<number> {
  const found = known.get(id);
  if (found !== undefined) return found;
  const [first] = await store.read(tenant, { kind: "endpoint", id }, { limit: 1 });
  const position = first?.position ?? 0;
  known.set(id, position);
  return position;
}

export async function endpointsOn(place: Place, known: Places): Promise<readonly KnownEndpoint[]> {
  const found: KnownEndpoint[] = [];
  for await (const { stream, data } of eachRow(place, { view: "endpoints", bucket: "on" })) {
    const { target, events, owner } = data as unknown as KnownEndpoint;
    found.push({ id: stream.id, target, events, owner, since: await placeOf(place, stream.id, known) });
  }
  return found;
}
