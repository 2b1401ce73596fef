import { timingSafeEqual } from "node:crypto";

/** Two texts of the same form, compared in a time that does not tell where they differ. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, "latin1"), Buffer.from(other, "latin1")];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Stands for the hash of what does not exist, so that looking for it takes as long: no text has this hash. */
export const NO_HASH = "-".repeat(64);
