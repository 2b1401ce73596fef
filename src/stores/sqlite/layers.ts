/** What is decided and not yet in the file: of the batch in the making, and of the one that is being written. */
export type Layers<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  /** The batch is handed over to be written; the next one begins. */
  launch(): void;
  /** It is in the file: answers what it was. */
  landed(): ReadonlyMap<string, Value>;
  /** The batch in the making was written by this thread: answers what it was. */
  written(): ReadonlyMap<string, Value>;
  drop(): void;
};

export function createLayers<Value>(): Layers<Value> {
  let making = new Map<string, Value>();
  let flying = new Map<string, Value>();
  const takeMaking = () => {
    const taken = making;
    making = new Map();
    return taken;
  };
  return {
    get: (key) => making.get(key) ?? flying.get(key),
    set: (key, value) => void making.set(key, value),
    launch() {
      flying = takeMaking();
    },
    landed() {
      const taken = flying;
      flying = new Map();
      return taken;
    },
    written: takeMaking,
    drop() {
      making = new Map();
      flying = new Map();
    },
  };
}
