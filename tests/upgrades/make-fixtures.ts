/**
 * Makes fixtures of a commit, from a clone with history: `npm run upgrade -- --make-fixture <name> --commit <commit>`. They
 * are the stores that its program leaves when it is killed, a file and a schema of PostgreSQL; of a released version also
 * the program. A fixture that exists is never written again.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { installCommit, pack, programAt } from "./archive.ts";
import { dumpPostgres, recordLayout, withClient } from "./postgres-dump.ts";
import { type Where, writeAndDie } from "./upgrade.ts";

/** No process listens there: what is to be sent to it stays undelivered. */
const NO_RECEIVER = { url: "http://127.0.0.1:9/" };
const RELEASE = /^\d+\.\d+\.\d+$/;

/** A fixture names no home, so that it is no copy wherever it is unpacked. */
const FORGET_HOME = {
  file: "DELETE FROM hp_meta WHERE key = 'home'",
  schema: "UPDATE holdpoint.hp_meta SET value = '' WHERE key = 'home'",
};

function readFileStore(file: string): Buffer {
  const db = new DatabaseSync(file);
  db.exec(`${FORGET_HOME.file}; VACUUM; PRAGMA journal_mode = DELETE`);
  db.close();
  return readFileSync(file);
}

async function readSchema(database: string): Promise<Buffer> {
  await withClient(database, (client) => client.query(FORGET_HOME.schema));
  return Buffer.from(JSON.stringify(await dumpPostgres(database)));
}

type Kept = {
  readonly where: Where;
  readonly name: string;
  readonly read: () => Buffer | Promise<Buffer>;
};

async function leave(root: string, commit: string, { where, name, read }: Kept): Promise<Buffer> {
  const [keyFile, log] = [join(root, "key.json"), join(root, "ran.log")];
  const left = await writeAndDie({ keyFile, log, receiver: NO_RECEIVER }, where, [
    installCommit(commit, join(root, "program")),
  ]);
  const files = ["key.json", "ran.log"].map((file) => [file, readFileSync(join(root, file))] as const);
  const said = Buffer.from(JSON.stringify({ ...left, commit }));
  return pack(new Map([...files, ["left.json", said], [name, await read()]]));
}

async function inFolder(make: (root: string) => Promise<Buffer>): Promise<Buffer> {
  const root = mkdtempSync(join(tmpdir(), "holdpoint-fixture-"));
  try {
    return await make(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const makeFile = (commit: string): Promise<Buffer> =>
  inFolder((root) => {
    const folder = join(root, "data");
    const name = "data/journal.db";
    return leave(root, commit, { where: { folder }, name, read: () => readFileStore(join(root, name)) });
  });

async function makeSchema(commit: string): Promise<Buffer> {
  const server = await startPostgres();
  const { url: database } = server;
  try {
    await recordLayout(database);
    const kept = { where: { database }, name: "schema.json", read: () => readSchema(database) };
    return await inFolder((root) => leave(root, commit, kept));
  } finally {
    await server.stop();
  }
}

/** Answers the files that the fixture has now. */
export async function makeFixtures(name: string, commit: string): Promise<readonly string[]> {
  const folder = join(import.meta.dirname, name);
  mkdirSync(folder, { recursive: true });
  const makers = {
    ...(RELEASE.test(name) ? { "source.br": () => pack(programAt(commit)) } : {}),
    "store.br": () => makeFile(commit),
    "schema.br": () => makeSchema(commit),
  };
  for (const [file, make] of Object.entries(makers))
    if (!existsSync(join(folder, file))) writeFileSync(join(folder, file), await make());
  return Object.keys(makers).map((file) => join(folder, file));
}
