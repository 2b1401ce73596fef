/** Values that a tenant keeps outside its entries: artifacts, and encrypted secrets. */
import type { DatabaseSync } from "node:sqlite";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Artifact } from "../../kernel/stored-value.ts";

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
