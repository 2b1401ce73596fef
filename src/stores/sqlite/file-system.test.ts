import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { createFiles } from "./connect.ts";

test("a new store's name is synced, and that of every folder that was made for it", (t) => {
  if (process.platform === "win32") return;
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-folders-"));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const opened = new Map<number, string>();
  const synced: string[] = [];
  const { openSync, fsyncSync } = fs;
  t.mock.method(fs, "openSync", (file: string, flags: string, mode?: number) => {
    const descriptor = openSync(file, flags, mode);
    opened.set(descriptor, file);
    return descriptor;
  });
  t.mock.method(fs, "fsyncSync", (descriptor: number) => {
    synced.push(path.relative(root, opened.get(descriptor) ?? ""));
    fsyncSync(descriptor);
  });

  const deep = path.join(root, "a", "b", "data");
  createFiles(deep, path.join(deep, "journal.db"));
  assert.deepEqual(synced, ["a/b/data", "a/b", "a", ""]);

  synced.length = 0;
  createFiles(path.join(root, "a"), path.join(root, "a", "journal.db"));
  assert.deepEqual(
    synced,
    ["a", ""],
    "a folder may have been made just before, by somebody who went on to die",
  );

  synced.length = 0;
  createFiles(deep, path.join(deep, "journal.db"));
  assert.deepEqual(synced, [], "a store that is there costs nothing");
});
