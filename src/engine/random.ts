import { randomFillSync } from "node:crypto";

const POOL_BYTES = 8192;

/** Random bytes drawn from the system a page at a time: a call into it costs as much for 16 bytes as for a page. */
export function pooledRandom(): (bytes: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (bytes) => {
    if (bytes > POOL_BYTES) return randomFillSync(new Uint8Array(bytes));
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    const drawn = pool.slice(used - bytes, used);
    pool.fill(0, used - bytes, used);
    return drawn;
  };
}
