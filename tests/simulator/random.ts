/** The only source of chance in a simulation: sfc32, seeded from 64 bits by splitmix64. */
export type Random = {
  u32(): number;
  /** In [0, 1). */
  float(): number;
  /** A whole number in [0, below). */
  int(below: number): number;
  /** A whole number in [least, most]. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Value>(list: readonly Value[]): Value;
  bytes(count: number): Uint8Array;
};

const MASK = (1n << 64n) - 1n;

function splitmix(seed: bigint): () => bigint {
  let state = seed & MASK;
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  };
}

function sfc32(seed: bigint): () => number {
  const mix = splitmix(seed);
  const [first, second] = [mix(), mix()];
  let a = Number(first & 0xffffffffn) | 0;
  let b = Number(first >> 32n) | 0;
  let c = Number(second & 0xffffffffn) | 0;
  let counter = Number(second >> 32n) | 0;
  return () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
}

export function createRandom(seed: bigint): Random {
  const u32 = sfc32(seed);
  for (let warm = 0; warm < 12; warm++) u32();
  const float = () => u32() / 4294967296;
  const int = (below: number) => Math.floor(float() * below);
  return {
    u32,
    float,
    int,
    between: (least, most) => least + int(most - least + 1),
    chance: (probability) => float() < probability,
    pick: <Value>(list: readonly Value[]) => list[int(list.length)] as Value,
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count; at++) bytes[at] = u32() >>> 24;
      return bytes;
    },
  };
}
