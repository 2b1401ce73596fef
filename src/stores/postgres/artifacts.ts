import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Artifact } from "../../kernel/stored-value.ts";

import { type Ask, bytesAt, textAt } from "./ask.ts";
import { booleans, bytes, hexes } from "./encode.ts";
import type { Step } from "./pipeline.ts";

export type Artifacts = {
  find(tid: number, hash: string): Promise<Uint8Array | undefined>;
  /** Bytes that are there already stay as they are: their hash is their name. */
  put(tid: number, artifacts: readonly Artifact[]): Step;
};

export function prepareArtifacts({ ask }: Ask, schema: string): Artifacts {
  const select = {
    name: "hp_artifact",
    text: `SELECT packed, bytes FROM ${schema}.hp_artifacts WHERE tid = $1 AND hash = $2`,
  };
  // In the order of their hashes: two who put the same ones never wait for each other.
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
      return row === undefined ? undefined : unpacked(hash, textAt(row, 0) === "t", bytesAt(row, 1));
    },
    put(tid, artifacts) {
      const packed = artifacts.map(({ bytes: plain }) => pack(plain));
      return {
        statement: insert,
        values: [
          tid,
          hexes(artifacts.map(({ hash }) => hash)),
          booleans(packed.map(({ isPacked }) => isPacked)),
          bytes(packed.map(({ kept }) => kept)),
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
