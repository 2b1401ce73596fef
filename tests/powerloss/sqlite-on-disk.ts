/**
 * SQLite as WebAssembly, of the version that Node has built in, with a file system of our own under it. Device and sync
 * behaviour are those of SQLite on Linux. One connection at a time: nobody is there to lock out.
 */
import sqlite3InitModule, { type Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import type { Disk, DiskFile } from "./disk.ts";

export const sqlite: Sqlite3Static = await sqlite3InitModule();
const { capi, wasm } = sqlite;

export const VFS = "powerloss";
const SECTOR = 4096;
const LONGEST_PATH = 1024;

/** The parameters of a C function that has five. */
type Five = readonly [number, number, number, number, number];

type Mounted = {
  readonly disk: Disk;
  readonly random: (bytes: number) => Uint8Array;
  readonly open: Map<number, DiskFile>;
  /** The log's index, which processes share; here it is a part of the program's memory. */
  readonly shared: number[];
};
let mounted: Mounted | undefined;

/** From now on SQLite sees this disk, and draws its random numbers here. */
export function mount(disk: Disk, random: (bytes: number) => Uint8Array): void {
  if ((mounted?.open.size ?? 0) > 0) throw new Error("The disk before this one is still in use.");
  mounted = { disk, random, open: new Map(), shared: [] };
  capi.sqlite3_randomness(0, 0);
}

function now(): Mounted {
  if (mounted === undefined) throw new Error("There is no disk.");
  return mounted;
}

function opened(pointer: number): DiskFile {
  const file = now().open.get(pointer);
  if (file === undefined) throw new Error("This file is not open.");
  return file;
}

const heap = (pointer: number, length: number): Uint8Array =>
  wasm.heap8u().subarray(Number(pointer), Number(pointer) + length);
/** Names are the last part of a path: there is only one folder. */
const nameAt = (pointer: number): string => wasm.cstrToJs(pointer)?.split("/").at(-1) ?? "";

const fileMethods = {
  xClose(pointer: number) {
    now().open.delete(pointer);
    return 0;
  },
  xRead(pointer: number, into: number, length: number, offset: number | bigint) {
    const read = opened(pointer).bytes.read(Number(offset), heap(into, length));
    return read < length ? capi.SQLITE_IOERR_SHORT_READ : 0;
  },
  xWrite(pointer: number, from: number, length: number, offset: number | bigint) {
    now().disk.write(opened(pointer), Number(offset), heap(from, length));
    return 0;
  },
  xTruncate(pointer: number, size: number | bigint) {
    now().disk.truncate(opened(pointer), Number(size));
    return 0;
  },
  xSync(pointer: number, flags: number) {
    now().disk.sync(opened(pointer), (flags & 0xf) === capi.SQLITE_SYNC_FULL);
    return 0;
  },
  xFileSize(pointer: number, size: number) {
    wasm.poke64(size, BigInt(opened(pointer).bytes.size));
    return 0;
  },
  xLock: () => 0,
  xUnlock: () => 0,
  xCheckReservedLock(_pointer: number, answer: number) {
    wasm.poke32(answer, 0);
    return 0;
  },
  xFileControl: () => capi.SQLITE_NOTFOUND,
  xSectorSize: () => SECTOR,
  xDeviceCharacteristics: () => capi.SQLITE_IOCAP_POWERSAFE_OVERWRITE,
  xShmMap(...[_pointer, region, size, extend, answer]: Five) {
    const { shared } = now();
    if (shared[region] === undefined && extend !== 0) {
      shared[region] = Number(wasm.alloc(size));
      heap(shared[region], size).fill(0);
    }
    wasm.pokePtr(answer, shared[region] ?? 0);
    return 0;
  },
  xShmLock: () => 0,
  xShmBarrier: () => undefined,
  xShmUnmap() {
    for (const region of now().shared.splice(0)) wasm.dealloc(region);
    return 0;
  },
};

const diskMethods = {
  xOpen(...[_vfs, path, pointer, flags, answer]: Five) {
    const { disk, open } = now();
    const name = nameAt(path);
    const found = disk.find(name);
    const isBusy = [...open.values()].some((file) => file === found);
    if (isBusy || (found === undefined && (flags & capi.SQLITE_OPEN_CREATE) === 0))
      return capi.SQLITE_CANTOPEN;
    open.set(pointer, found ?? disk.create(name));
    const file = new capi.sqlite3_file(pointer);
    file.$pMethods = methods.pointer as number;
    file.dispose();
    if (answer !== 0) wasm.poke32(answer, flags);
    return 0;
  },
  xDelete(_vfs: number, path: number, syncFolder: number) {
    const { disk } = now();
    if (disk.find(nameAt(path)) === undefined) return capi.SQLITE_IOERR_DELETE_NOENT;
    disk.remove(nameAt(path), syncFolder !== 0);
    return 0;
  },
  xAccess(_vfs: number, path: number, _flags: number, answer: number) {
    const found = now().disk.find(nameAt(path));
    // As on Unix: a file without bytes does not count when SQLite asks whether there is one.
    wasm.poke32(answer, found !== undefined && found.bytes.size > 0 ? 1 : 0);
    return 0;
  },
  xFullPathname(_vfs: number, path: number, length: number, answer: number) {
    return wasm.cstrncpy(answer, path, length) < length ? 0 : capi.SQLITE_CANTOPEN;
  },
  xRandomness(_vfs: number, length: number, into: number) {
    heap(into, length).set(mounted?.random(length) ?? new Uint8Array(length));
    return length;
  },
  xSleep: () => 0,
  xCurrentTime(_vfs: number, answer: number) {
    wasm.poke64f(answer, 2_460_000.5);
    return 0;
  },
  xCurrentTimeInt64(_vfs: number, answer: number) {
    wasm.poke64(answer, 212_544_000_000_000n);
    return 0;
  },
  xGetLastError: () => 0,
};

const methods = new capi.sqlite3_io_methods();
Object.assign(methods, { $iVersion: 2 });
const vfs = new capi.sqlite3_vfs();
vfs.$iVersion = 2;
const file = new capi.sqlite3_file();
vfs.$szOsFile = file.structInfo.sizeof;
file.dispose();
vfs.$mxPathname = LONGEST_PATH;
// The package's types know neither big integers nor plain numbers as answers.
const install = sqlite.vfs.installVfs as unknown as (parts: object) => void;
install({
  io: { struct: methods, methods: fileMethods },
  vfs: { struct: vfs, methods: diskMethods, name: VFS, asDefault: true },
});
