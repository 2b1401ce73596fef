/**
 * A signed receipt, and the proof that the journal which holds its outcome was sealed.
 *
 * - The proof is an unbroken path: receipt → hash of the outcome's entry → the headers after it → the sealed head of
 *   the stream → the seal's Merkle root → the seal's signature.
 * - A bundle is either the receipt alone (not sealed yet) or the receipt with the whole proof.
 */

import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type JsonObject } from "../kernel/json.ts";
import { isCount, isHash, readHeader } from "./entry.ts";
import { type PublicJwk, type SigningKey, signJws, verifyJws } from "./jws.ts";
import {
  inclusionPath,
  isSealPayload,
  leafText,
  rootFromPath,
  SEAL_TYP,
  type Seal,
  type SealLeaf,
  type SealPayload,
} from "./seal.ts";

const RECEIPT_TYP = "holdpoint-receipt+jws";

type ReceiptProof = {
  readonly seal: string;
  readonly leaf: SealLeaf;
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
  /** Headers of the stream's entries after the outcome, up to the sealed head. */
  readonly links: readonly string[];
};
export type ReceiptBundle = { readonly receipt: string } & (ReceiptProof | { readonly seal?: never });

/** The least a receipt's payload holds: the journal position of its outcome. */
type ReceiptPosition = { readonly stream: string; readonly seq: number; readonly entry: string };

export type ReceiptCheck =
  | {
      readonly ok: true;
      readonly payload: JsonObject & ReceiptPosition;
      readonly seal: SealPayload | undefined;
    }
  | { readonly ok: false; readonly what: string };

/** The first seal that covers an entry; undefined if none does yet. */
export function sealCovering(seals: readonly Seal[], stream: string, seq: number): Seal | undefined {
  return seals.find((seal) => seal.leaves.some((leaf) => leaf.stream === stream && leaf.seq >= seq));
}

/** `links` are the headers after the outcome's entry, up to the head in `seal`. */
export function signReceipt(
  payload: JsonObject,
  key: SigningKey,
  proof?: { readonly seal: Seal; readonly links: readonly string[] },
): ReceiptBundle {
  const receipt = signJws(payload, key, RECEIPT_TYP);
  if (proof === undefined) return { receipt };
  const { leaves, jws } = proof.seal;
  const index = leaves.findIndex((leaf) => leaf.stream === payload["stream"]);
  const leaf = leaves[index];
  if (leaf === undefined || leaf.seq !== Number(payload["seq"]) + proof.links.length) {
    throw new HoldpointError("broken_rule", "The seal and the links do not lead to the receipt's entry.");
  }
  const path = inclusionPath(leaves.map(leafText), index);
  return { receipt, seal: jws, leaf, index, size: leaves.length, path, links: proof.links };
}

/** Verifies a bundle from an untrusted source: any JSON is accepted as input. */
export function verifyReceipt(bundle: unknown, publicKey: PublicJwk): ReceiptCheck {
  if (!isJsonObject(bundle) || typeof bundle["receipt"] !== "string") return no("It is not a receipt.");
  const payload = verifyJws(bundle["receipt"], publicKey, RECEIPT_TYP);
  if (payload === undefined) return no("Its signature does not hold under this key.");
  if (!hasPosition(payload)) return no("It does not say which entry it is about.");
  if (Object.keys(bundle).length === 1) return { ok: true, payload, seal: undefined };
  const proof = readProof(bundle);
  if (proof === undefined) return no("Its proof is incomplete.");
  const seal = verifyJws(proof.seal, publicKey, SEAL_TYP);
  if (seal === undefined || !isSealPayload(seal))
    return no("The signature of its seal does not hold under this key.");
  if (payload["tenant"] !== undefined && payload["tenant"] !== seal.tenant)
    return no("Its seal is another tenant's.");
  const what = brokenWalk(payload, proof) ?? brokenInclusion(proof, seal);
  return what === undefined ? { ok: true, payload, seal } : no(what);
}

const no = (what: string): ReceiptCheck => ({ ok: false, what });

function hasPosition(payload: JsonObject): payload is JsonObject & ReceiptPosition {
  return typeof payload["stream"] === "string" && isCount(payload["seq"], 1) && isHash(payload["entry"]);
}

function readProof(bundle: JsonObject): ReceiptProof | undefined {
  const { seal, leaf, index, size, path, links } = bundle;
  if (Object.keys(bundle).length !== 7 || typeof seal !== "string" || !isCount(index) || !isCount(size))
    return undefined;
  if (!isTexts(path) || !isTexts(links) || !isJsonObject(leaf)) return undefined;
  const { stream, seq, hash } = leaf;
  if (Object.keys(leaf).length !== 3 || typeof stream !== "string" || !isCount(seq, 1) || !isHash(hash))
    return undefined;
  return { seal, leaf: { stream, seq, hash }, index, size, path, links };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function brokenWalk(place: ReceiptPosition, { leaf, links }: ReceiptProof): string | undefined {
  let { seq, entry } = place;
  for (const link of links) {
    const header = readHeader(link);
    seq += 1;
    if (header?.stream !== place.stream || header.seq !== seq || header.prev !== entry) {
      return `The link at seq ${seq} does not follow the entry before it.`;
    }
    entry = sha256(link);
  }
  const arrived = leaf.stream === place.stream && leaf.seq === seq && leaf.hash === entry;
  return arrived ? undefined : "Its links do not lead to the sealed head of its stream.";
}

function brokenInclusion(proof: ReceiptProof, seal: SealPayload): string | undefined {
  const root = rootFromPath({ ...proof, leaf: leafText(proof.leaf) });
  return root === seal.root && proof.size === seal.streams
    ? undefined
    : "Its stream's head is not in the seal.";
}
