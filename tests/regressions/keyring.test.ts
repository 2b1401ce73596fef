/** The key file as it is made: what a power cut would show of it, and what others make in the same moment. */
import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openKeyring } from "../../src/runtime/keyring.ts";

test("a new key is synced, then its name, then those of the folders that were made for it", (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-key-"));
  const opened = new Map<number, string>();
  const synced: string[] = [];
  const { openSync } = fs;
  t.mock.method(fs, "openSync", (place: string, flags: string) => {
    const descriptor = openSync(place, flags);
    opened.set(descriptor, place);
    return descriptor;
  });
  t.mock.method(fs, "fsyncSync", (descriptor: number) => void synced.push(opened.get(descriptor) ?? ""));
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
    fs.rmSync(root, { recursive: true, force: true });
  });
  openKeyring(path.join(root, "a", "b", "key.json"), (bytes) => new Uint8Array(bytes).fill(7));
  const [content, ...folders] = synced;
  assert.match(content ?? "", /key\.json\.[0-9a-f]{16}\.part$/);
  assert.deepEqual(folders, [path.join(root, "a", "b"), path.join(root, "a"), root]);
});

test("a process that makes a key leaves alone what another one with the same process id has begun", (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-key-"));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  const file = path.join(root, "key.json");
  const others = `${file}.${process.pid}.part`;
  fs.writeFileSync(others, "the other's");
  const drawn: number[] = [];
  const random = (bytes: number) => {
    drawn.push(bytes);
    return new Uint8Array(bytes).fill(drawn.length);
  };
  openKeyring(file, random);
  assert.equal(fs.readFileSync(others, "utf8"), "the other's");
  assert.deepEqual(fs.readdirSync(root).sort(), ["key.json", path.basename(others)]);
  assert.ok(drawn.includes(8), "its own is named by chance");
});
