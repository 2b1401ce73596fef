/**
 * Captures snapshots for the store and reads them back.
 * - No secret's value is in the stored bytes: handles stay handles, and their values are removed wherever they occur.
 * - The stored bytes are the compressed canonical JSON, kept under their own hash; bytes that do not match it are never
 *   used.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { canonicalJson, sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../kernel/json.ts";
import type { Artifact } from "../kernel/stored-value.ts";
import { displayValue } from "../kernel/text.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { handlesIn, redactJson, type Secrets } from "../runtime/secrets.ts";
import type { Store } from "../stores/store.ts";
import type { Snapshot } from "./events.ts";
import { LAYERS, snapshotUri } from "./rules/snapshot.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
export const LARGEST_SNAPSHOT_BYTES = 8 * MIB;

const GZIP_LEVEL = 6;
/** The header's byte for the operating system, and the value that names none. */
const GZIP_SYSTEM_AT = 9;
const GZIP_SYSTEM_UNKNOWN = 255;

type Capture = {
  /** To be attached to the commit that records the checkpoint. */
  readonly artifact: Artifact;
  readonly ref: Omit<Snapshot, "id">;
  /** As stored: any part of it that is recorded or shown in another place is copied from here. */
  readonly snapshot: JsonObject;
};

/** A handle that does not resolve here has no value to remove. */
export async function secretValuesIn(
  secrets: Secrets,
  handles: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const handle of handles) {
    try {
      values.set(handle, await secrets.resolve(handle));
    } catch (error) {
      if (!isHoldpointError(error, "secret_missing")) throw error;
    }
  }
  return values;
}

const mapParts = (value: JsonObject, change: (part: Json, name: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part, name)]));

const isLayer = (name: string): boolean => LAYERS.some((layer) => layer === name);
/** Ids and time are generated here. A short secret that occurs in them by chance must not corrupt them. */
const OWN: ReadonlySet<string> = new Set(["snapshot_id", "workflow_id", "checkpoint_id", "timestamp"]);

function snapshotWithoutSecrets(snapshot: JsonObject, values: ReadonlyMap<string, string>): JsonObject {
  if (values.size === 0) return snapshot;
  const clean = (part: Json): Json => redactJson(part, values);
  return mapParts(snapshot, (part, name) => {
    if (OWN.has(name)) return part;
    return isLayer(name) && isJsonObject(part) ? mapParts(part, clean) : clean(part);
  });
}

function sizeText(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  return bytes < MIB ? `${(bytes / KIB).toFixed(1)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}

function tooLarge(snapshot: JsonObject, bytes: number): HoldpointError {
  const sizes = LAYERS.flatMap((layer) => {
    const part = snapshot[layer];
    return part === undefined ? [] : [[layer, Buffer.byteLength(canonicalJson(part))] as const];
  });
  const parts = sizes.map(([layer, size]) => `${layer} ${sizeText(size)}`).join(", ");
  return new HoldpointError(
    "payload_too_large",
    `The snapshot of "${displayValue(snapshot["checkpoint_name"])}" has ${sizeText(bytes)} of JSON (${parts}); at most ${sizeText(LARGEST_SNAPSHOT_BYTES)} are kept.`,
    {
      next: "Capture less, or keep large data elsewhere and capture a reference to it. Outputs count twice: they stand in task_state and in execution_state.",
      details: { bytes, most: LARGEST_SNAPSHOT_BYTES, layers: Object.fromEntries(sizes) },
    },
  );
}

/** Equal JSON gives equal bytes on every machine with the same zlib: the header has neither time nor system. */
function compress(json: Uint8Array): Uint8Array {
  // Synchronous, not on another thread: snapshots are small, and a simulated run must not wait for real threads.
  const packed = gzipSync(json, { level: GZIP_LEVEL });
  packed[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN;
  return packed;
}

/**
 * Prepares a snapshot for the store, without the values of secrets: of the handles in it, and of those in `handles`,
 * which the program used outside it.
 */
export async function captureSnapshot(
  runtime: Pick<Runtime, "secrets">,
  snapshot: JsonObject,
  handles: Iterable<string> = [],
): Promise<Capture> {
  const values = await secretValuesIn(runtime.secrets, new Set([...handlesIn(snapshot), ...handles]));
  const clean = snapshotWithoutSecrets(snapshot, values);
  const json = Buffer.from(canonicalJson(clean));
  if (json.length > LARGEST_SNAPSHOT_BYTES) throw tooLarge(clean, json.length);
  const bytes = compress(json);
  const hash = sha256(bytes);
  const ref = { uri: snapshotUri(hash), hash, bytes: json.length, compressedBytes: bytes.length };
  return { artifact: { hash, bytes }, ref, snapshot: clean };
}

function unusable(hash: string, why: string, cause?: unknown): HoldpointError {
  return new HoldpointError("store_corrupt", `The snapshot ${snapshotUri(hash)} ${why}.`, { cause });
}

function unpack(hash: string, bytes: Uint8Array): Json {
  try {
    const json = gunzipSync(bytes, { maxOutputLength: LARGEST_SNAPSHOT_BYTES });
    return parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(json));
  } catch (error) {
    throw unusable(hash, "is not the compressed JSON that it should be", error);
  }
}

/** Reads a stored snapshot in full. A missing or mismatching one is an error, never a guess. */
export async function openSnapshot(
  place: { readonly store: Pick<Store, "artifact">; readonly tenant: string },
  hash: string,
): Promise<JsonObject> {
  const bytes = await place.store.artifact(place.tenant, hash);
  if (bytes === undefined) throw unusable(hash, "is missing");
  if (sha256(bytes) !== hash) throw unusable(hash, "is not what its name says");
  const snapshot = unpack(hash, bytes);
  if (!isJsonObject(snapshot)) throw unusable(hash, "is not an object");
  return snapshot;
}
