/** Ids: a prefix and 26 Crockford base-32 characters; 48 bits of time, then 80 of randomness, so they sort by age. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
export const ID_RANDOM_BYTES = 10;

export type IdPrefix = "act" | "apr" | "eff" | "epo" | "sec" | "non";

function base32(value: bigint, length: number): string {
  let text = "";
  for (let rest = value, left = length; left > 0; left--, rest >>= 5n)
    text = ALPHABET.charAt(Number(rest & 31n)) + text;
  return text;
}

export function makeId(prefix: IdPrefix, now: number, random: Uint8Array): string {
  const tail = BigInt(`0x${Buffer.from(random.subarray(0, ID_RANDOM_BYTES)).toString("hex")}`);
  return `${prefix}_${base32((BigInt(now) << 80n) | tail, 26)}`;
}

export function isId(prefix: IdPrefix, value: unknown): value is string {
  return typeof value === "string" && new RegExp(`^${prefix}_[${ALPHABET}]{26}$`).test(value);
}
