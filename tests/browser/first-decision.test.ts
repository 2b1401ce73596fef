/** From nothing to the first decision. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, type TestContext, test } from "node:test";
import { buildDesk } from "./built-desk.ts";
import { endOf, sharedBrowser } from "./desk.ts";
import { strangerAt } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));
const BIN = join(import.meta.dirname, "../../bin/holdpoint.mjs");

type Place = { readonly url: string; readonly login: string };

/** What `npm start` starts on a machine where nothing is yet. */
async function firstStart(t: TestContext): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-first-"));
  const own = { HOLDPOINT_KEY_FILE: join(folder, "key.json"), HOLDPOINT_DATABASE: "", DATABASE_URL: "" };
  const flags = [
    "serve",
    "--example",
    "--port",
    "0",
    "--data",
    join(folder, "data"),
    "--log",
    "off",
    "--json",
  ];
  const server = spawn(process.execPath, [BIN, ...flags], { env: { ...process.env, ...own }, cwd: folder });
  t.after(async () => {
    server.kill("SIGTERM");
    await once(server, "exit");
    rmSync(folder, { recursive: true, force: true });
  });
  let wrong = "";
  server.stderr.on("data", (chunk) => {
    wrong += String(chunk);
  });
  for await (const line of createInterface(server.stdout)) return JSON.parse(line) as Place;
  return assert.fail(wrong);
}

test("on an empty store, whoever opens the link of the server's first start decides what the example asks with three clicks at most", async (t) => {
  await buildDesk();
  const { url, login } = await firstStart(t);
  const visit = await strangerAt({ browser: await browser(), url });
  t.after(() => visit.close());
  const { page } = visit;
  let clicks = 0;
  const click = async (name: string) => {
    clicks += 1;
    await page.getByRole("button", { name, exact: true }).click();
  };
  await page.goto(login);
  await click("Log in");
  await click("Approve");
  await page
    .getByText(/^Approved by /)
    .first()
    .waitFor();
  await page.getByText("It was done.").waitFor();
  t.diagnostic(`${clicks} clicks`);
  assert.ok(clicks <= 3, `${clicks} clicks`);
  assert.deepEqual(visit.faults.seen, []);
});
