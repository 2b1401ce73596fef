export type Cache<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  clear(): void;
};

/** Keeps what was used lately, in two halves: when the young one is full, the old one is dropped. No other bookkeeping. */
export function createCache<Value>(most: number): Cache<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const set = (key: string, value: Value) => {
    if (young.size >= most / 2 && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  };
  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const kept = old.get(key);
      if (kept !== undefined) set(key, kept);
      return kept;
    },
    set,
    clear() {
      young = new Map();
      old = new Map();
    },
  };
}
