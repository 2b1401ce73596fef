/** Reading states, and the values that stand in them as references. */

import { digestOf, sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { type Json, parseJson } from "../kernel/json.ts";
import { artifactHash, isArtifactRef } from "../kernel/stored-value.ts";
import type { StreamKind, StreamRef } from "../kernel/stream.ts";
import type { StateOf } from "../states.ts";

import type { Store } from "../stores/store.ts";

type Place = { readonly store: Store; readonly tenant: string };

export function readState<K extends StreamKind>(place: Place, ref: StreamRef<K>): Promise<StateOf<K>> {
  return place.store.transact(place.tenant, { read: [ref] }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.state(ref),
  }));
}

/** With the store's time at which it was so. */
export function readStateAt<K extends StreamKind>(
  place: Place,
  ref: StreamRef<K>,
): Promise<{ readonly state: StateOf<K>; readonly now: number }> {
  return place.store.transact(place.tenant, { read: [ref] }, (sight) => ({
    kind: "commit",
    append: [],
    result: { state: sight.state(ref), now: sight.now },
  }));
}

/** A kept value in full. Bytes that do not match their hash are never used. */
export async function loadValue(place: Place, kept: Json): Promise<Json> {
  return isArtifactRef(kept) ? loadArtifact(place, artifactHash(kept)) : kept;
}

/** The arguments of an action, as they were recorded and nothing else. */
export async function loadArgs(
  place: Place,
  action: { readonly args: Json; readonly argsDigest: string },
): Promise<Json> {
  const args = await loadValue(place, action.args);
  if (digestOf(args) === action.argsDigest) return args;
  throw new HoldpointError("store_corrupt", "The arguments of an action are not those that were recorded.");
}

export async function loadArtifact(place: Place, hash: string): Promise<Json> {
  const bytes = await place.store.artifact(place.tenant, hash);
  if (bytes === undefined || sha256(bytes) !== hash) {
    throw new HoldpointError(
      "store_corrupt",
      `The artifact ${hash} is missing or is not what its name says.`,
    );
  }
  return parseJson(Buffer.from(bytes).toString("utf8"));
}
