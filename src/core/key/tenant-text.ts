/**
 * A tenant's name inside a credential: as it is where it has only small letters, digits and hyphens, else `B` and its bytes in
 * base 32. Neither form has the characters that stand between the parts of a credential, and each name has one form.
 */
const PLAIN = /^[a-z0-9-]{1,64}$/;
const ENCODED = /^B[A-Z2-7]{2,410}$/;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const MOST_BYTES = 256;

function base32(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; held &= (1 << bits) - 1) {
      bits -= 5;
      text += ALPHABET[held >> bits];
    }
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

function bytesOf(text: string): Uint8Array {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const character of text) {
    held = (held << 5) | ALPHABET.indexOf(character);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  return Uint8Array.from(bytes);
}

/** undefined for a name that no credential can carry: an empty one, or one that is too long. */
export function tenantText(tenant: string): string | undefined {
  if (PLAIN.test(tenant)) return tenant;
  const bytes = Buffer.from(tenant, "utf8");
  const fits = bytes.length > 0 && bytes.length <= MOST_BYTES && tenant.isWellFormed();
  return fits ? `B${base32(bytes)}` : undefined;
}

/** Only the one form that `tenantText` writes is read. */
export function tenantOf(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  if (!ENCODED.test(text)) return undefined;
  const tenant = Buffer.from(bytesOf(text.slice(1))).toString("utf8");
  return tenantText(tenant) === text ? tenant : undefined;
}
