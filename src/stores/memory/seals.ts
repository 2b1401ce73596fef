import type { Seal, SealDraft } from "../../journal/seal.ts";
import { checkSeal, draftSeal } from "../draft-seal.ts";
import type { MemoryDatabase, MemoryTenant } from "./database.ts";
import { log } from "./read.ts";

export function seal(
  database: MemoryDatabase,
  tenant: string,
  sign: (draft: SealDraft) => Seal,
): Seal | undefined {
  const found = database.data.tenants.get(tenant);
  const last = found?.seals.at(-1)?.sealed;
  const moved = log(database, tenant, last?.position ?? 0, Number.POSITIVE_INFINITY);
  const position = moved.at(-1)?.position;
  if (found === undefined || position === undefined) return undefined;
  const draft = draftSeal({
    tenant,
    incarnation: database.incarnation,
    now: database.clock.now(),
    last,
    position,
    entries: moved.length,
    leaves: leavesOf(
      found,
      moved.map((entry) => JSON.parse(entry.header).stream),
    ),
  });
  const signed = checkSeal(draft, sign(draft));
  const { n, at, entries } = draft;
  found.seals.push({ seal: signed, sealed: { n, at, entries, position, jws: signed.jws } });
  return signed;
}

function leavesOf({ streams }: MemoryTenant, names: readonly string[]): SealDraft["leaves"] {
  return [...new Set(names)].flatMap((name) => {
    const found = streams.get(name);
    return found === undefined ? [] : [{ stream: name, seq: found.head.seq, hash: found.head.hash }];
  });
}

export function seals({ data }: MemoryDatabase, tenant: string, after = 0): readonly Seal[] {
  return (data.tenants.get(tenant)?.seals ?? []).slice(after).map(({ seal: kept }) => kept);
}

export function sealOver(
  { data }: MemoryDatabase,
  tenant: string,
  position: number | "last",
): Seal | undefined {
  const kept = data.tenants.get(tenant)?.seals ?? [];
  const found = position === "last" ? kept.at(-1) : kept.find(({ sealed }) => sealed.position >= position);
  return found?.seal;
}
