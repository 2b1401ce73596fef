/** The small tables of a tenant: its number, the names that lead to streams, artifacts and encrypted secrets. */
import type { DatabaseSync } from "node:sqlite";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { parseStreamRef, type StreamRef, streamName } from "../../kernel/stream.ts";
import type { PlannedName } from "../decision.ts";

export type SqliteTenants = {
  /** Undefined if nothing was ever written for this tenant. */
  find(tenant: string): number | undefined;
  ensure(tenant: string): number;
  name(tid: number): string;
  /** After a rollback: numbers assigned in it are not in the file. */
  forget(): void;
  withEntries(): readonly string[];
};

export function prepareSqliteTenants(db: DatabaseSync): SqliteTenants {
  const select = db.prepare("SELECT tid FROM hp_tenants WHERE tenant = ?");
  const insert = db.prepare("INSERT INTO hp_tenants (tenant) VALUES (?)");
  const byNumber = db.prepare("SELECT tenant FROM hp_tenants WHERE tid = ?");
  const list = db.prepare(
    "SELECT tenant FROM hp_tenants t WHERE EXISTS (SELECT 1 FROM hp_streams s WHERE s.tid = t.tid)",
  );
  const known = new Map<string, number>();
  const find = (tenant: string): number | undefined => {
    const cached = known.get(tenant);
    if (cached !== undefined) return cached;
    const row = select.get(tenant);
    if (row === undefined) return undefined;
    known.set(tenant, Number(row["tid"]));
    return Number(row["tid"]);
  };
  return {
    find,
    ensure(tenant) {
      const found = find(tenant);
      if (found !== undefined) return found;
      const tid = Number(insert.run(tenant).lastInsertRowid);
      known.set(tenant, tid);
      return tid;
    },
    name: (tid) => String(byNumber.get(tid)?.["tenant"]),
    forget: () => known.clear(),
    withEntries: () =>
      list
        .all()
        .map((row) => String(row["tenant"]))
        .sort(),
  };
}

export type Names = {
  find(tid: number, name: string): StreamRef | undefined;
  lead(tid: number, planned: PlannedName): void;
};

export function prepareNames(db: DatabaseSync): Names {
  const select = db.prepare("SELECT stream FROM hp_names WHERE tid = ? AND name = ?");
  const upsert = db.prepare("INSERT OR REPLACE INTO hp_names (tid, name, stream) VALUES (?, ?, ?)");
  return {
    find(tid, name) {
      const row = select.get(tid, name);
      return row === undefined ? undefined : parseStreamRef(String(row["stream"]));
    },
    lead(tid, { name, stream }) {
      upsert.run(tid, name, streamName(stream));
    },
  };
}

export type SqliteArtifacts = {
  find(tid: number, hash: string): Uint8Array | undefined;
  /** Existing bytes are not written again: the hash is the key. */
  put(tid: number, artifact: Artifact): void;
};

export function prepareSqliteArtifacts(db: DatabaseSync): SqliteArtifacts {
  const select = db.prepare("SELECT packed, bytes FROM hp_artifacts WHERE tid = ? AND hash = ?");
  const insert = db.prepare("INSERT INTO hp_artifacts (tid, hash, packed, bytes) VALUES (?, ?, ?, ?)");
  const exists = db.prepare("SELECT 1 FROM hp_artifacts WHERE tid = ? AND hash = ?");
  return {
    find(tid, hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
      const row = select.get(tid, Buffer.from(hash, "hex"));
      if (row === undefined || !(row["bytes"] instanceof Uint8Array)) return undefined;
      return unpacked(hash, row["packed"] === 1, row["bytes"]);
    },
    put(tid, { hash, bytes }) {
      const key = Buffer.from(hash, "hex");
      if (exists.get(tid, key) !== undefined) return;
      const packed = deflateRawSync(bytes, { level: 1 });
      const smaller = packed.length < bytes.length;
      insert.run(tid, key, smaller ? 1 : 0, smaller ? packed : bytes);
    },
  };
}

function unpacked(hash: string, packed: boolean, bytes: Uint8Array): Uint8Array {
  const plain = new Uint8Array(packed ? inflated(hash, bytes) : bytes);
  if (sha256(plain) === hash) return plain;
  throw new HoldpointError("store_corrupt", `The artifact ${hash} is not what was stored.`);
}

function inflated(hash: string, bytes: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(bytes);
  } catch (error) {
    throw unreadable(hash, error);
  }
}

function unreadable(hash: string, cause: unknown): HoldpointError {
  return new HoldpointError("store_corrupt", `The artifact ${hash} cannot be unpacked.`, { cause });
}

export type SqliteSecrets = {
  find(tid: number, id: string): Uint8Array | undefined;
  put(tid: number, id: string, sealed: Uint8Array): void;
};

export function prepareSqliteSecrets(db: DatabaseSync): SqliteSecrets {
  const select = db.prepare("SELECT sealed FROM hp_secrets WHERE tid = ? AND id = ?");
  const upsert = db.prepare("INSERT OR REPLACE INTO hp_secrets (tid, id, sealed) VALUES (?, ?, ?)");
  return {
    find(tid, id) {
      const sealed = select.get(tid, id)?.["sealed"];
      return sealed instanceof Uint8Array ? sealed : undefined;
    },
    put(tid, id, sealed) {
      upsert.run(tid, id, sealed);
    },
  };
}
