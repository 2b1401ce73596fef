export type Cache<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  forget(key: string): void;
  clear(): void;
};

export type CacheLimit = { readonly count: number; readonly size: number };

/**
 * Keeps recently used values in two halves: when the young half is full, the old half is dropped. There is no other
 * bookkeeping. A value larger than a half takes one by itself.
 */
export function createCache<Value>(most: CacheLimit, sizeOf: (value: Value) => number): Cache<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let size = 0;
  const forgetYoung = (key: string) => {
    const before = young.get(key);
    if (before === undefined) return;
    size -= sizeOf(before);
    young.delete(key);
  };
  const isFull = (more: number) =>
    young.size > 0 && (young.size >= most.count / 2 || size + more > most.size / 2);
  const set = (key: string, value: Value) => {
    const more = sizeOf(value);
    forgetYoung(key);
    if (isFull(more)) {
      old = young;
      young = new Map();
      size = 0;
    }
    young.set(key, value);
    size += more;
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
    forget(key) {
      forgetYoung(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
      size = 0;
    },
  };
}
