/**
 * The key that signs seals and receipts, and the one that encrypts secret rows. Both are in one file outside the data
 * folder, readable by its owner alone: whoever can rewrite the store cannot sign it.
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
import { type PublicJwk, type SigningKey, signingKeyFromPkcs8 } from "../journal/jws.ts";
import { HoldpointError } from "../kernel/errors.ts";

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

function parse(file: string, text: string): Keyring {
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

function code(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

/** Two processes may make it at once: the first link wins and both read that one. Answers whether this one has made it. */
function create(file: string, random: (bytes: number) => Uint8Array): boolean {
  const { privateKey } = generateKeyPairSync("ed25519");
  const signing = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const content: KeyFile = {
    holdpoint: "key",
    v: 1,
    signing,
    secrets: Buffer.from(random(32)).toString("base64"),
  };
  // Processes in containers may have the same number.
  const part = `${file}.${Buffer.from(random(8)).toString("hex")}.part`;
  const made = mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(part, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
  chmodSync(part, 0o600);
  let isNew = true;
  try {
    linkSync(part, file);
  } catch (error) {
    if (code(error) !== "EEXIST") throw error;
    isNew = false;
  } finally {
    rmSync(part, { force: true });
  }
  syncFolders(dirname(file), dirname(made ?? dirname(file)));
  return isNew;
}

/** What is signed with it outlives a power cut, so the key has to: its name, and those of the folders made for it. */
function syncFolders(folder: string, top: string): void {
  if (process.platform === "win32") return;
  for (let place = folder; ; place = dirname(place)) {
    try {
      const descriptor = openSync(place, "r");
      fsyncSync(descriptor);
      closeSync(descriptor);
    } catch (error) {
      // Who may write in a folder need not be allowed to read it, and some file systems sync no folders.
      if (!["EACCES", "EPERM", "EINVAL"].includes(code(error))) throw error;
    }
    if (place === top || place === dirname(place)) return;
  }
}

/** The key that is there; undefined when there is none. */
export function findKeyring(file: string): Keyring | undefined {
  try {
    return parse(file, readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof HoldpointError) throw error;
    if (code(error) === "ENOENT") return undefined;
    throw unusable(file, `it cannot be read (${code(error)})`, error);
  }
}

function createOrRefuse(file: string, random: (bytes: number) => Uint8Array): boolean {
  try {
    return create(file, random);
  } catch (error) {
    throw unusable(file, `it cannot be made (${code(error)})`, error);
  }
}

/** Before anything needs it. A file that is there, whatever it holds, is left as it is. */
export function makeKeyFile(
  file: string,
  random: (bytes: number) => Uint8Array,
): { readonly isNew: false } | { readonly isNew: true; readonly publicJwk: PublicJwk } {
  if (!createOrRefuse(file, random)) return { isNew: false };
  return { isNew: true, publicJwk: parse(file, readFileSync(file, "utf8")).signing.publicJwk };
}

/** The key that is there, or a new one: asked for when something is to be signed or encrypted. */
export function openKeyring(file: string, random: (bytes: number) => Uint8Array): Keyring {
  const found = findKeyring(file);
  if (found !== undefined) return found;
  createOrRefuse(file, random);
  return parse(file, readFileSync(file, "utf8"));
}
