/**
 * The key that signs seals and receipts, the key that encrypts secret rows, and sealing. Both keys are in
 * one file outside the data folder, readable by its owner alone: write access to the store is not enough to sign it.
 * Sealing happens one at a time, off the path of calls, always with the key of the previous seal.
 */
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { openJws, type PublicJwk, type SigningKey, signingKeyFromPkcs8 } from "../journal/jws.ts";
import { SEAL_TYP, type Seal, type SealDraft, signSeal } from "../journal/seal.ts";
import type { SavedSeal } from "../journal/verify-seals.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Runtime } from "./runtime.ts";

export type Keyring = { readonly signing: SigningKey; readonly secrets: Uint8Array };

type KeyFile = {
  readonly holdpoint: "key";
  readonly v: 1;
  readonly signing: string;
  readonly secrets: string;
};

function unusable(file: string, why: string, cause?: unknown): HoldpointError {
  return new HoldpointError("key_unusable", `The key file ${file} cannot be used: ${why}.`, { cause });
}

function parseKeyFile(file: string, text: string): Keyring {
  try {
    const { holdpoint, v, signing, secrets } = JSON.parse(text) as KeyFile;
    const key = Buffer.from(secrets, "base64");
    if (holdpoint !== "key" || v !== 1 || key.length !== 32)
      throw new TypeError("not a key file of this version");
    return { signing: signingKeyFromPkcs8(signing), secrets: key };
  } catch (error) {
    throw unusable(file, "it does not hold a Holdpoint key", error);
  }
}

function errorCode(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

/** Two processes may create it at once: the first link wins and both read that file. True if this one created it. */
function createKeyFile(file: string, random: (bytes: number) => Uint8Array): boolean {
  const { privateKey } = generateKeyPairSync("ed25519");
  const signing = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const content: KeyFile = {
    holdpoint: "key",
    v: 1,
    signing,
    secrets: Buffer.from(random(32)).toString("base64"),
  };
  // Processes in containers may have the same pid.
  const part = `${file}.${Buffer.from(random(8)).toString("hex")}.part`;
  const made = mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(part, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
  chmodSync(part, 0o600);
  let isNew = true;
  try {
    linkSync(part, file);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    isNew = false;
  } finally {
    rmSync(part, { force: true });
  }
  syncFolders(dirname(file), dirname(made ?? dirname(file)));
  return isNew;
}

/** Its signatures survive a power cut, so the key must too: sync its name, and those of the folders made for it. */
function syncFolders(folder: string, top: string): void {
  if (process.platform === "win32") return;
  for (let place = folder; ; place = dirname(place)) {
    try {
      const descriptor = openSync(place, "r");
      fsyncSync(descriptor);
      closeSync(descriptor);
    } catch (error) {
      // A process may have write but no read permission on a folder, and some file systems do not sync folders.
      if (!["EACCES", "EPERM", "EINVAL"].includes(errorCode(error))) throw error;
    }
    if (place === top || place === dirname(place)) return;
  }
}

/** The existing key; undefined if there is none. */
export function findKeyring(file: string): Keyring | undefined {
  try {
    return parseKeyFile(file, readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof HoldpointError) throw error;
    if (errorCode(error) === "ENOENT") return undefined;
    throw unusable(file, `it cannot be read (${errorCode(error)})`, error);
  }
}

function createKeyFileOrRefuse(file: string, random: (bytes: number) => Uint8Array): boolean {
  try {
    return createKeyFile(file, random);
  } catch (error) {
    throw unusable(file, `it cannot be made (${errorCode(error)})`, error);
  }
}

/** Creates the key file before it is needed. An existing file is left as it is, with any content. */
export function makeKeyFile(
  file: string,
  random: (bytes: number) => Uint8Array,
): { readonly isNew: false } | { readonly isNew: true; readonly publicJwk: PublicJwk } {
  if (!createKeyFileOrRefuse(file, random)) return { isNew: false };
  return { isNew: true, publicJwk: parseKeyFile(file, readFileSync(file, "utf8")).signing.publicJwk };
}

/** The existing key, or a new one. Called when something has to be signed or encrypted. */
export function openKeyring(file: string, random: (bytes: number) => Uint8Array): Keyring {
  const found = findKeyring(file);
  if (found !== undefined) return found;
  createKeyFileOrRefuse(file, random);
  return parseKeyFile(file, readFileSync(file, "utf8"));
}

function checkSealingKey({ previous }: Pick<SealDraft, "previous">, key: SigningKey): void {
  if (previous === undefined) return;
  const sealedWith = openJws(previous, SEAL_TYP)?.kid;
  if (sealedWith === key.kid) return;
  const what = `This store was sealed with the key ${sealedWith ?? "unknown"} and this process has ${key.kid}.`;
  throw new HoldpointError("key_mismatch", what);
}

/** Checks the key even if there is nothing to seal. */
export async function refuseOtherKey(
  runtime: Pick<Runtime, "store" | "tenant" | "signingKey">,
): Promise<void> {
  const key = await runtime.signingKey();
  const last = await runtime.store.sealOver(runtime.tenant, "last");
  if (last !== undefined) checkSealingKey({ previous: last.jws }, key);
}

export async function sealTenant(
  runtime: Pick<Runtime, "store" | "tenant" | "signingKey" | "reach" | "history">,
): Promise<Seal | undefined> {
  const key = await runtime.signingKey();
  await runtime.history.refuseRestored();
  await runtime.reach("before_seal");
  const seal = await runtime.store.seal(runtime.tenant, (draft) => {
    checkSealingKey(draft, key);
    runtime.history.judge(draft);
    return signSeal(draft, key);
  });
  if (seal !== undefined) runtime.history.saw(seal);
  await runtime.reach("after_seal");
  return seal;
}

/** Seals now and returns the last seal with its key, to save where no writer of the store has access. */
export async function getSavedSeal(
  runtime: Parameters<typeof sealTenant>[0],
): Promise<SavedSeal | undefined> {
  await sealTenant(runtime);
  const last = await runtime.store.sealOver(runtime.tenant, "last");
  if (last === undefined) return undefined;
  const key = await runtime.signingKey();
  checkSealingKey({ previous: last.jws }, key);
  return { jws: last.jws, key: key.publicJwk };
}
