/**
 * From a folder to a connection. The folder is private to its owner and on a disk whose locks and syncs work. The
 * settings that durability depends on are read back after they were set: how SQLite was compiled must not decide
 * whether an acknowledged commit survives a power cut.
 */
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";

/** `statfs` types of network and host-shared file systems, whose locks SQLite cannot trust. */
const NETWORK = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9P"],
  [0x564c, "NCP"],
  [0x5346414f, "AFS"],
  [0x73757245, "Coda"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x786f4256, "VirtualBox shared folder"],
]);
const FUSE = 0x65735546;
const NETWORK_FUSE =
  /^fuse\.(sshfs|s3fs|rclone|gcsfuse|goofys|glusterfs|ceph|cephfs|davfs|davfs2|curlftpfs|smbnetfs|juicefs)/;

/**
 * Creates the folder and an empty database file, readable by their owner only. The file is opened only if it did not
 * exist: closing any descriptor of it would drop the locks that SQLite holds on it in this process.
 */
export function createFiles(folder: string, file: string): void {
  const made = fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (fs.existsSync(file)) return;
  try {
    fs.closeSync(fs.openSync(file, "wx", 0o600));
  } catch (error) {
    if (!fs.existsSync(file)) throw error;
  }
  if (process.platform !== "win32") syncNames(folder, path.dirname(made ?? folder));
}

/** A file is durable only if its name is, and the name of every folder above it. */
function syncNames(folder: string, top: string): void {
  syncFolder(folder);
  for (let above = folder; above !== top; ) {
    above = path.dirname(above);
    try {
      syncFolder(above);
    } catch (error) {
      // A process may have write but no read permission on a folder.
      if (!isForbidden(error)) throw error;
    }
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
}

function syncFolder(folder: string): void {
  const descriptor = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

export function refuseNetwork(folder: string): void {
  if (process.platform !== "linux") return;
  const type = fs.statfsSync(folder).type;
  const name = networkName(type, () =>
    mountType(fs.realpathSync(folder), fs.readFileSync("/proc/self/mountinfo", "utf8")),
  );
  if (name === undefined) return;
  throw new HoldpointError("store_unsuitable", `The folder ${folder} is on a network file system (${name}).`);
}

export function networkName(type: number, mounted: () => string | undefined): string | undefined {
  if (type >>> 0 !== FUSE) return NETWORK.get(type >>> 0);
  const fuse = mounted();
  return fuse !== undefined && NETWORK_FUSE.test(fuse) ? fuse : undefined;
}

/** The file system type of the mount that holds a folder, from the text of `/proc/self/mountinfo`. */
export function mountType(folder: string, mountinfo: string): string | undefined {
  let best = { point: "", type: undefined as string | undefined };
  for (const line of mountinfo.split("\n")) {
    const [before, after] = line.split(" - ");
    const point = before?.split(" ")[4];
    if (point === undefined || point.length < best.point.length) continue;
    if (!`${folder}${path.sep}`.startsWith(point === "/" ? point : `${point}${path.sep}`)) continue;
    best = { point, type: after?.split(" ")[0] };
  }
  return best.type;
}

const OLDEST_LIBRARY = [3, 51, 3] as const;
/** "HPNT", in the file's header. */
export const APPLICATION_ID = 0x48504e54;

/** Each setting with its value when read back. Sync settings come first: the journal mode is written to the file. */
const SETTINGS = [
  ["synchronous", "FULL", 2],
  ["fullfsync", "ON", 1],
  ["checkpoint_fullfsync", "ON", 1],
  ["journal_mode", "WAL", "wal"],
  ["trusted_schema", "OFF", 0],
  ["mmap_size", "0", 0],
  ["busy_timeout", "0", 0],
  ["temp_store", "MEMORY", 2],
  ["cache_size", "-16000", -16000],
  ["wal_autocheckpoint", "2000", 2000],
  ["journal_size_limit", "67108864", 67108864],
] as const;

export type OpenDatabase = (file: string) => DatabaseSync;

const openDatabase: OpenDatabase = (file) =>
  new DatabaseSync(file, { timeout: 0, defensive: true, allowExtension: false });

export function connectSqlite(file: string, open: OpenDatabase = openDatabase): DatabaseSync {
  const db = open(file);
  try {
    refuseOldLibrary(String(pragma(db, "SELECT sqlite_version()")));
    refuseForeign(db, file);
    applySettings(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function refuseOldLibrary(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, least] of OLDEST_LIBRARY.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) throw unsuitable(`SQLite ${version} is older than ${OLDEST_LIBRARY.join(".")}`);
  }
}

/** Runs before anything is written: another program's file stays as it is. */
function refuseForeign(db: DatabaseSync, file: string): void {
  const id = pragma(db, "PRAGMA application_id");
  if (id === APPLICATION_ID) return;
  const tables = pragma(db, "SELECT count(*) FROM sqlite_schema");
  if (id === 0 && tables === 0) return;
  throw new HoldpointError("store_foreign", `The file ${file} is a database of another program.`);
}

function applySettings(db: DatabaseSync): void {
  for (const [name, value] of SETTINGS) db.exec(`PRAGMA ${name}=${value}`);
  for (const [name, , expected] of SETTINGS) {
    const got = pragma(db, `PRAGMA ${name}`) ?? expected;
    if (got !== expected) throw unsuitable(`SQLite answers ${name}=${String(got)} where ${expected} was set`);
  }
}

/** The first column of a statement's first row. */
export function pragma(db: DatabaseSync, sql: string): unknown {
  return Object.values(db.prepare(sql).get() ?? {})[0];
}

function unsuitable(what: string): HoldpointError {
  return new HoldpointError("store_unsuitable", `${what}.`);
}

export function hex(bytes: unknown): string {
  if (!(bytes instanceof Uint8Array)) return "";
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
