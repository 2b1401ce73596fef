/**
 * Detects that the store is a copy or an older backup: its location is not the recorded one, or it is behind what this
 * machine saw. Nothing executes before that check. No seal is signed that does not follow the last one this machine
 * saw, so two histories never share a number. The witness of what it saw is outside the store, next to the key: one
 * empty file per tenant, whose name holds a seal's number, position and hash. It only moves forward, even with several
 * processes: each writes a file and removes lower ones. It may be behind the store and is never ahead: it is written
 * after the seal was committed, and never synced. If it cannot be written or read, nothing is known, and work goes on.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSealPayload, type Seal, type SealDraft, sealHash } from "../journal/seal.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Store, StoreLocation } from "../stores/store.ts";

type WitnessedSeal = { readonly n: number; readonly position: number; readonly hash: string };
/** With the time of its file. */
type RememberedSeal = WitnessedSeal & { readonly at: number };

export type Witness = {
  last(incarnation: string, tenant: string): RememberedSeal | undefined;
  /** Every tenant that this machine saw, by `tenantKey`. */
  all(incarnation: string): ReadonlyMap<string, RememberedSeal>;
  saw(incarnation: string, tenant: string, seen: WitnessedSeal): void;
};

export const tenantKey = (tenant: string): string => sha256(tenant).slice(0, 16);

const NAME = /^([0-9a-f]{16})-(\d{1,16})-(\d{1,16})-([0-9a-f]{64})$/;
type WitnessFile = WitnessedSeal & { readonly key: string; readonly file: string };

function listWitnessFiles(folder: string): readonly WitnessFile[] {
  try {
    return readdirSync(folder).flatMap((file) => {
      const [, key = "", n, position, hash = ""] = NAME.exec(file) ?? [];
      return key === "" ? [] : [{ key, n: Number(n), position: Number(position), hash, file }];
    });
  } catch {
    return [];
  }
}

function remembered(folder: string, { n, position, hash, file }: WitnessFile): RememberedSeal {
  const stat = statSync(join(folder, file), { throwIfNoEntry: false });
  return { n, position, hash, at: stat?.mtimeMs ?? 0 };
}

function highest(found: readonly WitnessFile[]): ReadonlyMap<string, WitnessFile> {
  const last = new Map<string, WitnessFile>();
  for (const one of found) if (one.n > (last.get(one.key)?.n ?? -1)) last.set(one.key, one);
  return last;
}

function writeWitness(folder: string, key: string, { n, position, hash }: WitnessedSeal): void {
  const own = listWitnessFiles(folder).filter((one) => one.key === key);
  if (own.some((one) => one.n >= n)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `${key}-${n}-${position}-${hash}`), "", { mode: 0o600 });
  for (const { file } of own) rmSync(join(folder, file), { force: true });
}

export function openWitness(folder: string): Witness {
  const of = (incarnation: string): string =>
    join(folder, /^[\w-]{1,100}$/.test(incarnation) ? incarnation : sha256(incarnation));
  return {
    last(incarnation, tenant) {
      const place = of(incarnation);
      const found = highest(listWitnessFiles(place)).get(tenantKey(tenant));
      return found === undefined ? undefined : remembered(place, found);
    },
    all(incarnation) {
      const place = of(incarnation);
      return new Map(
        [...highest(listWitnessFiles(place))].map(([key, one]) => [key, remembered(place, one)]),
      );
    },
    saw(incarnation, tenant, seen) {
      try {
        writeWitness(of(incarnation), tenantKey(tenant), seen);
      } catch {
        // Best effort: without a witness, work goes on.
      }
    },
  };
}

export type RestoreGuard = {
  /** Evidence that the store was restored or copied, in words; undefined if there is none. */
  suspicion(reach?: "tenant" | "store"): Promise<string | undefined>;
  /** Before anything executes: throws `store_restored`, or records the store's location and last seal. */
  confirm(): Promise<void>;
  /** Before a process that does not execute seals something. */
  refuseRestored(): Promise<void>;
  /** While a seal is drafted: throws unless it follows the last one this machine saw. */
  judge(draft: SealDraft): void;
  saw(seal: Seal): void;
  /** The tenant's last seal that this machine saw. */
  lastSeen(incarnation: string): RememberedSeal | undefined;
  /** Aborts with the error if the store was restored while this process was running. */
  readonly broken: AbortSignal;
};

type GuardParts = { readonly store: Store; readonly tenant: string; readonly witness: Witness | undefined };

type HomeCheck = {
  readonly incarnation: string;
  readonly noted: StoreLocation | null;
  readonly found: StoreLocation;
};

export async function readHome(store: Store): Promise<HomeCheck> {
  return store.home === undefined
    ? { incarnation: store.incarnation, noted: null, found: {} }
    : store.home.look();
}

/** Compares only the parts known of both locations. */
function describeMove({ noted, found }: HomeCheck): string | undefined {
  const parts = Object.entries(noted ?? {}).filter(([part, was]) => (found[part] ?? was) !== was);
  if (parts.length === 0) return undefined;
  const each = parts.map(([part, was]) => `its ${part} is ${found[part]} and was ${was}`);
  return `it is not where it was last used (${each.join(", ")})`;
}

const when = (at: number): string => new Date(at).toISOString();

async function describeMismatch(
  store: Store,
  tenant: string,
  saw: RememberedSeal,
): Promise<string | undefined> {
  const there = await store.sealOver(tenant, saw.position);
  if (there !== undefined && sealHash(there.jws) === saw.hash) return undefined;
  const last = await store.sealOver(tenant, "last");
  if ((last?.n ?? 0) < saw.n)
    return `it ends with seal ${last?.n ?? 0}, and this machine saw seal ${saw.n} of it at ${when(saw.at)}`;
  return `its seal ${saw.n} is not the one that this machine saw at ${when(saw.at)}`;
}

/** Checks every tenant of this store that this machine saw. A missing tenant is evidence too. */
async function describeAnyMismatch(
  { store, witness }: GuardParts,
  incarnation: string,
): Promise<string | undefined> {
  const known = witness?.all(incarnation) ?? new Map<string, RememberedSeal>();
  if (known.size === 0) return undefined;
  const names = new Map((await store.tenants()).map((tenant) => [tenantKey(tenant), tenant]));
  for (const [key, saw] of known) {
    const tenant = names.get(key);
    if (tenant === undefined)
      return `a tenant is gone of which this machine saw seal ${saw.n} at ${when(saw.at)}`;
    const why = await describeMismatch(store, tenant, saw);
    if (why !== undefined) return why;
  }
  return undefined;
}

function restoredError(why: string, running: number | null): HoldpointError {
  const open = running === null ? "" : ` Effects under way in it: ${running}.`;
  const what = `This store was restored or copied: ${why}. What was done since is not in it.${open}`;
  return new HoldpointError("store_restored", what, { details: { why, running } });
}

function witnessedSealOf({ jws, n }: Seal): (WitnessedSeal & { readonly incarnation: string }) | undefined {
  const payload = readSealPayload(jws);
  if (payload === undefined) return undefined;
  return { n, position: payload.position, hash: sealHash(jws), incarnation: payload.incarnation };
}

function follows({ n, prev }: SealDraft, saw: WitnessedSeal): boolean {
  return n > saw.n && (n !== saw.n + 1 || prev === saw.hash);
}

async function findSuspicion(
  parts: GuardParts,
  looked: HomeCheck,
  reach: "tenant" | "store",
): Promise<string | undefined> {
  const { store, tenant, witness } = parts;
  const moved = describeMove(looked);
  if (moved !== undefined) return moved;
  if (reach === "store") return describeAnyMismatch(parts, looked.incarnation);
  const saw = witness?.last(looked.incarnation, tenant);
  return saw === undefined ? undefined : describeMismatch(store, tenant, saw);
}

/** A store without a home cannot be restored, so it needs no witness. */
export function createRestoreGuard(given: GuardParts): RestoreGuard {
  const parts = given.store.home === undefined ? { ...given, witness: undefined } : given;
  const { store, tenant, witness } = parts;
  let isConfirmed = false;
  const broken = new AbortController();

  /** Returns what it read. */
  async function look(): Promise<HomeCheck> {
    const looked = await readHome(store);
    const why = await findSuspicion(parts, looked, "tenant");
    if (why === undefined) return looked;
    throw restoredError(why, await store.count(tenant, "actions", "running"));
  }

  return {
    suspicion: async (reach = "tenant") => findSuspicion(parts, await readHome(store), reach),
    async confirm() {
      const { incarnation, noted, found } = await look();
      const isKnown = Object.keys(found).every((part) => noted?.[part] !== undefined);
      if (!isKnown) await store.home?.note({ ...noted, ...found });
      const last = witness === undefined ? undefined : await store.sealOver(tenant, "last");
      const seen = last === undefined ? undefined : witnessedSealOf(last);
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
      const error = restoredError(why, null);
      broken.abort(error);
      throw error;
    },
    saw(seal) {
      const seen = witnessedSealOf(seal);
      if (seen !== undefined) witness?.saw(seen.incarnation, tenant, seen);
    },
    lastSeen: (incarnation) => witness?.last(incarnation, tenant),
    broken: broken.signal,
  };
}
