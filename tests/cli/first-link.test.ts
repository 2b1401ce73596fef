/** The link that a new server prints for its first admin. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";

const CLI = join(import.meta.dirname, "../../bin/holdpoint.mjs");

test("the first login link leads to where people's pages are, if that is said", {
  timeout: 60_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const env = {
    ...process.env,
    HOLDPOINT_KEY_FILE: folder.keyFile,
    HOLDPOINT_PUBLIC_URL: "https://desk.example/",
    HOLDPOINT_LOG: "off",
  };
  const line = ["serve", "--port", "0", "--data", folder.path, "--first-admin", "ann"];
  const child = spawn(process.execPath, [CLI, ...line], { env, stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  for await (const text of createInterface(child.stdout)) {
    if (!text.includes("log in")) continue;
    assert.match(text, /log in +https:\/\/desk\.example\/login#\S+/);
    return;
  }
  assert.fail("no link was printed");
});
