/** The contents of one file, growing as it is written. What was never written reads as zeros. */
export type Bytes = {
  readonly size: number;
  write(offset: number, bytes: Uint8Array): void;
  resize(size: number): void;
  /** Fills `into`; answers how many bytes there were. */
  read(offset: number, into: Uint8Array): number;
  copy(): Bytes;
  /** Not to be written to. */
  view(): Uint8Array;
};

const LEAST = 64 * 1024;

export function createBytes(start: Uint8Array = new Uint8Array(0)): Bytes {
  let data = new Uint8Array(Math.max(LEAST, start.length));
  let size = start.length;
  data.set(start);
  const resize = (wanted: number) => {
    if (wanted > data.length) {
      const larger = new Uint8Array(Math.max(wanted, data.length * 2));
      larger.set(data.subarray(0, size));
      data = larger;
    }
    if (wanted < size) data.fill(0, wanted, size);
    size = wanted;
  };
  return {
    get size() {
      return size;
    },
    write(offset, bytes) {
      if (offset + bytes.length > size) resize(offset + bytes.length);
      data.set(bytes, offset);
    },
    resize,
    read(offset, into) {
      const there = data.subarray(Math.min(offset, size), Math.min(offset + into.length, size));
      into.fill(0);
      into.set(there);
      return there.length;
    },
    copy: () => createBytes(data.subarray(0, size)),
    view: () => data.subarray(0, size),
  };
}
