/** Ids: a prefix and 26 Crockford base-32 characters (48 bits of time, then 80 random bits), so they sort by age. */
import type { IdPrefix } from "./registry.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
export const ID_RANDOM_BYTES = 10;

const CODES = Buffer.from(ALPHABET);
const CHARACTERS = 26;
const bytes = new Uint8Array(16);
const text = Buffer.alloc(CHARACTERS);

/** 26 characters hold 130 bits: the first two are zero. */
function base32(): string {
  let held = 0;
  let bits = 2;
  let at = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; held &= (1 << bits) - 1) {
      bits -= 5;
      text[at++] = CODES[held >> bits] ?? 0;
    }
  }
  return text.toString("latin1");
}

export function makeId(prefix: IdPrefix, now: number, random: Uint8Array): string {
  let rest = now;
  for (let at = 5; at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  bytes.set(random.subarray(0, ID_RANDOM_BYTES), 6);
  return `${prefix}_${base32()}`;
}

export function isId(prefix: IdPrefix, value: unknown): value is string {
  return typeof value === "string" && new RegExp(`^${prefix}_[${ALPHABET}]{26}$`).test(value);
}
