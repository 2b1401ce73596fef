/**
 * What this machine last saw of a history, kept outside of it, beside the key: an old backup that is put back in its
 * place cannot bring that back to its own time as well. A witness is an empty file whose name says everything, one a
 * tenant: the number of a seal, its position, its hash.
 *
 * M1. It only ever moves forward, with several processes writing it: each leaves a file, and clears lower ones away.
 * M2. It is behind the store, never ahead of it: it is written after the seal was committed, and never synced.
 * M3. Where it cannot be written or read, nothing is known; that keeps nobody from working.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../kernel/canonical-json.ts";

export type Seen = { readonly n: number; readonly position: number; readonly hash: string };
/** With when it was written down. */
export type Remembered = Seen & { readonly at: number };

export type Witness = {
  last(incarnation: string, tenant: string): Remembered | undefined;
  /** Every tenant that this machine saw, by `tenantKey`. */
  all(incarnation: string): ReadonlyMap<string, Remembered>;
  saw(incarnation: string, tenant: string, seen: Seen): void;
};

export const tenantKey = (tenant: string): string => sha256(tenant).slice(0, 16);

const NAME = /^([0-9a-f]{16})-(\d{1,16})-(\d{1,16})-([0-9a-f]{64})$/;
type Found = Seen & { readonly key: string; readonly file: string };

function list(folder: string): readonly Found[] {
  try {
    return readdirSync(folder).flatMap((file) => {
      const [, key = "", n, position, hash = ""] = NAME.exec(file) ?? [];
      return key === "" ? [] : [{ key, n: Number(n), position: Number(position), hash, file }];
    });
  } catch {
    return [];
  }
}

function remembered(folder: string, { n, position, hash, file }: Found): Remembered {
  const stat = statSync(join(folder, file), { throwIfNoEntry: false });
  return { n, position, hash, at: stat?.mtimeMs ?? 0 };
}

function highest(found: readonly Found[]): ReadonlyMap<string, Found> {
  const last = new Map<string, Found>();
  for (const one of found) if (one.n > (last.get(one.key)?.n ?? -1)) last.set(one.key, one);
  return last;
}

function write(folder: string, key: string, { n, position, hash }: Seen): void {
  const own = list(folder).filter((one) => one.key === key);
  if (own.some((one) => one.n >= n)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `${key}-${n}-${position}-${hash}`), "", { mode: 0o600 });
  for (const { file } of own) rmSync(join(folder, file), { force: true });
}

export function witnessIn(folder: string): Witness {
  const of = (incarnation: string): string =>
    join(folder, /^[\w-]{1,100}$/.test(incarnation) ? incarnation : sha256(incarnation));
  return {
    last(incarnation, tenant) {
      const place = of(incarnation);
      const found = highest(list(place)).get(tenantKey(tenant));
      return found === undefined ? undefined : remembered(place, found);
    },
    all(incarnation) {
      const place = of(incarnation);
      return new Map([...highest(list(place))].map(([key, one]) => [key, remembered(place, one)]));
    },
    saw(incarnation, tenant, seen) {
      try {
        write(of(incarnation), tenantKey(tenant), seen);
      } catch {
        // M3.
      }
    },
  };
}
