/** The small tables of a tenant: its number, artifacts and encrypted secrets. */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { checkStoredText } from "../decision.ts";
import {
  checkTenantLength,
  decodeText,
  encodeBooleans,
  encodeBytes,
  encodeHexes,
  encodeText,
  indexKey,
} from "./encode.ts";
import { bytesColumn, numberColumn, type QueryRunner, type QueryStep, textColumn } from "./query.ts";

export type PostgresTenants = {
  /** Undefined if nothing was ever written for this tenant. */
  find(tenant: string): Promise<number | undefined>;
  ensure(tenant: string): Promise<number>;
  withEntries(): Promise<readonly string[]>;
};

export function preparePostgresTenants({ ask }: QueryRunner, schema: string): PostgresTenants {
  const select = {
    name: "hp_tenant",
    text: `SELECT tid FROM ${schema}.hp_tenants WHERE tenant = $1`,
  };
  const insert = {
    name: "hp_new_tenant",
    text: `INSERT INTO ${schema}.hp_tenants (tenant) VALUES ($1) ON CONFLICT (tenant) DO NOTHING`,
  };
  const list = {
    name: "hp_tenants",
    text: `SELECT tenant FROM ${schema}.hp_tenants t
      WHERE EXISTS (SELECT 1 FROM ${schema}.hp_streams s WHERE s.tid = t.tid AND s.seq > 0)`,
  };
  const known = new Map<string, number>();
  const find = async (tenant: string): Promise<number | undefined> => {
    const cached = known.get(tenant);
    if (cached !== undefined) return cached;
    const [rows] = await ask("ids", { statement: select, values: [encodeText(tenant)] });
    const row = rows?.[0];
    if (row === undefined) return undefined;
    known.set(tenant, numberColumn(row, 0));
    return numberColumn(row, 0);
  };
  return {
    find,
    async ensure(tenant) {
      const cached = known.get(tenant) ?? (await find(tenant));
      if (cached !== undefined) return cached;
      checkTenantLength(checkStoredText("tenant", tenant));
      await ask("ids", { statement: insert, values: [encodeText(tenant)] });
      return (await find(tenant)) ?? 0;
    },
    async withEntries() {
      const [rows = []] = await ask("ids", { statement: list });
      return rows.map((row) => decodeText(textColumn(row, 0))).sort();
    },
  };
}

export type PostgresArtifacts = {
  find(tid: number, hash: string): Promise<Uint8Array | undefined>;
  /** Existing bytes are not written again: the hash is the key. */
  put(tid: number, artifacts: readonly Artifact[]): QueryStep;
};

export function preparePostgresArtifacts({ ask }: QueryRunner, schema: string): PostgresArtifacts {
  const select = {
    name: "hp_artifact",
    text: `SELECT packed, bytes FROM ${schema}.hp_artifacts WHERE tid = $1 AND hash = $2`,
  };
  // Ordered by hash, so that two transactions with the same artifacts cannot deadlock.
  const insert = {
    name: "hp_put_artifacts",
    text: `INSERT INTO ${schema}.hp_artifacts (tid, hash, packed, bytes)
      SELECT $1::int4, hash, packed, bytes FROM unnest($2::bytea[], $3::bool[], $4::bytea[]) a (hash, packed, bytes)
      ORDER BY hash ON CONFLICT DO NOTHING`,
  };
  return {
    async find(tid, hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
      const [rows] = await ask(tid, { statement: select, values: [tid, Buffer.from(hash, "hex")] });
      const row = rows?.[0];
      return row === undefined ? undefined : unpacked(hash, textColumn(row, 0) === "t", bytesColumn(row, 1));
    },
    put(tid, artifacts) {
      const packed = artifacts.map(({ bytes: plain }) => pack(plain));
      return {
        statement: insert,
        values: [
          tid,
          encodeHexes(artifacts.map(({ hash }) => hash)),
          encodeBooleans(packed.map(({ isPacked }) => isPacked)),
          encodeBytes(packed.map(({ kept }) => kept)),
        ],
      };
    },
  };
}

function pack(plain: Uint8Array): { readonly isPacked: boolean; readonly kept: Uint8Array } {
  const packed = deflateRawSync(plain, { level: 1 });
  return packed.length < plain.length ? { isPacked: true, kept: packed } : { isPacked: false, kept: plain };
}

function unpacked(hash: string, isPacked: boolean, kept: Uint8Array): Uint8Array {
  const plain = isPacked ? inflated(hash, kept) : kept;
  if (sha256(plain) === hash) return new Uint8Array(plain);
  throw new HoldpointError("store_corrupt", `The artifact ${hash} is not what was stored.`);
}

function inflated(hash: string, packed: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(packed);
  } catch (error) {
    throw unreadable(hash, error);
  }
}

function unreadable(hash: string, cause: unknown): HoldpointError {
  return new HoldpointError("store_corrupt", `The artifact ${hash} cannot be unpacked.`, { cause });
}

export type PostgresSecrets = {
  find(tid: number, id: string): Promise<Uint8Array | undefined>;
  put(tid: number, id: string, sealed: Uint8Array): Promise<void>;
};

export function preparePostgresSecrets({ ask }: QueryRunner, schema: string): PostgresSecrets {
  const select = {
    name: "hp_secret",
    text: `SELECT sealed FROM ${schema}.hp_secrets WHERE tid = $1 AND key = $2`,
  };
  const upsert = {
    name: "hp_put_secret",
    text: `INSERT INTO ${schema}.hp_secrets (tid, key, sealed) VALUES ($1, $2, $3)
      ON CONFLICT (tid, key) DO UPDATE SET sealed = excluded.sealed`,
  };
  return {
    async find(tid, id) {
      const [rows] = await ask(tid, { statement: select, values: [tid, indexKey(id)] });
      return rows?.[0] && bytesColumn(rows[0], 0);
    },
    async put(tid, id, sealed) {
      await ask(tid, { statement: upsert, values: [tid, indexKey(id), Buffer.from(sealed)] });
    },
  };
}
