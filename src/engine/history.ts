/**
 * Whether the store is the one that this history was last written in. A copy lives elsewhere than the store has noted; an
 * older backup put back in its place is behind what this machine saw of it.
 *
 * W1. Nobody executes before that is clear; what is in order is noted then, so that the next look can tell.
 * W2. No seal is signed that does not follow the last one that this machine saw: two histories never share a number.
 */

import { readSealPayload, type Seal, type SealDraft, sealHash } from "../journal/seal.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Store, StoreLocation } from "../stores/store.ts";
import { type Remembered, type Seen, tenantKey, type Witness } from "./witness.ts";

export type History = {
  /** What tells that the store was restored or copied, in words; undefined when nothing does. */
  suspicion(reach?: "tenant" | "store"): Promise<string | undefined>;
  /** Before anything executes: throws `store_restored`, or notes where the store is and what is in it. */
  confirm(): Promise<void>;
  /** Before something is sealed by a process that does not execute. */
  refuseRestored(): Promise<void>;
  /** While a seal is drafted: throws unless it follows what this machine saw. */
  judge(draft: SealDraft): void;
  saw(seal: Seal): void;
  /** The last seal that this machine saw of the tenant. */
  lastSeen(incarnation: string): Remembered | undefined;
  /** That the store was restored under this process. */
  broken(): HoldpointError | undefined;
};

type Parts = { readonly store: Store; readonly tenant: string; readonly witness: Witness | undefined };
type Looked = {
  readonly incarnation: string;
  readonly noted: StoreLocation | null;
  readonly found: StoreLocation;
};

export async function lookHome(store: Store): Promise<Looked> {
  return store.home === undefined
    ? { incarnation: store.incarnation, noted: null, found: {} }
    : store.home.look();
}

/** Only what is known of both places is compared. */
function whereMoved({ noted, found }: Looked): string | undefined {
  const parts = Object.entries(noted ?? {}).filter(([part, was]) => (found[part] ?? was) !== was);
  if (parts.length === 0) return undefined;
  const each = parts.map(([part, was]) => `its ${part} is ${found[part]} and was ${was}`);
  return `it is not where it was last used (${each.join(", ")})`;
}

const when = (at: number): string => new Date(at).toISOString();

async function whyOther(store: Store, tenant: string, saw: Remembered): Promise<string | undefined> {
  const there = await store.sealOver(tenant, saw.position);
  if (there !== undefined && sealHash(there.jws) === saw.hash) return undefined;
  const last = await store.sealOver(tenant, "last");
  if ((last?.n ?? 0) < saw.n)
    return `it ends with seal ${last?.n ?? 0}, and this machine saw seal ${saw.n} of it at ${when(saw.at)}`;
  return `its seal ${saw.n} is not the one that this machine saw at ${when(saw.at)}`;
}

/** The tenants of this store that this machine knows; one that is gone altogether is behind too. */
async function whyAnyOther({ store, witness }: Parts, incarnation: string): Promise<string | undefined> {
  const known = witness?.all(incarnation) ?? new Map<string, Remembered>();
  if (known.size === 0) return undefined;
  const names = new Map((await store.tenants()).map((tenant) => [tenantKey(tenant), tenant]));
  for (const [key, saw] of known) {
    const tenant = names.get(key);
    if (tenant === undefined)
      return `a tenant is gone of which this machine saw seal ${saw.n} at ${when(saw.at)}`;
    const why = await whyOther(store, tenant, saw);
    if (why !== undefined) return why;
  }
  return undefined;
}

function refusal(why: string, running: number | null): HoldpointError {
  const open = running === null ? "" : ` Effects under way in it: ${running}.`;
  const what = `This store was restored or copied: ${why}. What was done since is not in it.${open}`;
  return new HoldpointError("store_restored", what, { details: { why, running } });
}

function seenIn({ jws, n }: Seal): (Seen & { readonly incarnation: string }) | undefined {
  const payload = readSealPayload(jws);
  if (payload === undefined) return undefined;
  return { n, position: payload.position, hash: sealHash(jws), incarnation: payload.incarnation };
}

function follows({ n, prev }: SealDraft, saw: Seen): boolean {
  return n > saw.n && (n !== saw.n + 1 || prev === saw.hash);
}

async function suspicionOf(
  parts: Parts,
  looked: Looked,
  reach: "tenant" | "store",
): Promise<string | undefined> {
  const { store, tenant, witness } = parts;
  const moved = whereMoved(looked);
  if (moved !== undefined) return moved;
  if (reach === "store") return whyAnyOther(parts, looked.incarnation);
  const saw = witness?.last(looked.incarnation, tenant);
  return saw === undefined ? undefined : whyOther(store, tenant, saw);
}

/** Of a store that nobody can put back, nothing has to be remembered. */
export function createHistory(given: Parts): History {
  const parts = given.store.home === undefined ? { ...given, witness: undefined } : given;
  const { store, tenant, witness } = parts;
  let isConfirmed = false;
  let broken: HoldpointError | undefined;

  /** Answers what it looked at. */
  async function look(): Promise<Looked> {
    const looked = await lookHome(store);
    const why = await suspicionOf(parts, looked, "tenant");
    if (why === undefined) return looked;
    throw refusal(why, await store.count(tenant, "actions", "running"));
  }

  return {
    suspicion: async (reach = "tenant") => suspicionOf(parts, await lookHome(store), reach),
    async confirm() {
      const { incarnation, noted, found } = await look();
      const isKnown = Object.keys(found).every((part) => noted?.[part] !== undefined);
      if (!isKnown) await store.home?.note({ ...noted, ...found });
      const last = witness === undefined ? undefined : await store.sealOver(tenant, "last");
      const seen = last === undefined ? undefined : seenIn(last);
      if (seen !== undefined) witness?.saw(incarnation, tenant, seen);
      isConfirmed = true;
    },
    async refuseRestored() {
      if (!isConfirmed) await look();
    },
    judge(draft) {
      const saw = witness?.last(draft.incarnation, tenant);
      if (saw === undefined || follows(draft, saw)) return;
      const why = `its next seal would be ${draft.n}, and this machine saw seal ${saw.n} of it at ${when(saw.at)}`;
      broken = refusal(why, null);
      throw broken;
    },
    saw(seal) {
      const seen = seenIn(seal);
      if (seen !== undefined) witness?.saw(seen.incarnation, tenant, seen);
    },
    lastSeen: (incarnation) => witness?.last(incarnation, tenant),
    broken: () => broken,
  };
}
