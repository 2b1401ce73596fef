import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, type Place, runCli } from "./bench.ts";

type Copied = { readonly copy: Place; readonly original: Place };

/** A store in which something was done, and a copy of it. */
async function copied(context: TestContext): Promise<Copied> {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const ask = hp.gate({ name: "ask", run: async () => "done" });
  await ask({}, { requestId: "one", waitMs: 0 });
  await hp.close();
  const path = `${folder.path}-copy`;
  cpSync(folder.path, path, { recursive: true });
  return { original: folder, copy: { path, keyFile: folder.keyFile } };
}

test("a restored store is read as ever, and every command says on standard error that it was restored", async (t) => {
  const { copy, original } = await copied(t);
  for (const args of [
    ["approvals"],
    ["show", "one"],
    ["journal", "one"],
    ["verify"],
    ["export"],
    ["welcome"],
  ]) {
    const { code, out, err } = await runCli(copy, args);
    assert.equal(code, 0, `${args.join(" ")}: ${err}`);
    assert.notEqual(out, "");
    assert.match(err, /^Note: this store was restored or copied: it is not where it was last used/m);
    assert.match(err, /npx holdpoint restored/);
  }
  const { err } = await runCli(original, ["approvals"]);
  assert.equal(err, "");
});

test("`restored` says what is known, and changes nothing", async (t) => {
  const { copy, original } = await copied(t);
  const shown = await runCli(copy, ["restored"]);
  assert.equal(shown.code, 1);
  assert.match(shown.out, /This store was restored or copied: it is not where it was last used/);
  assert.match(shown.out, /1 waiting for\s+people/);
  assert.match(shown.out, /holdpoint restored --acknowledge --reason/);
  const parsed = JSON.parse((await runCli(copy, ["restored", "--json"])).out) as {
    why: string;
    lastSeal: object;
  };
  assert.match(parsed.why, /inode/);
  assert.equal((await runCli(copy, ["restored"])).code, 1);
  const fine = await runCli(original, ["restored"]);
  assert.equal(fine.code, 0);
  assert.match(fine.out, /Nothing tells that this store was restored or copied/);
});

test("acknowledging needs a reason, is recorded, and is over after that", async (t) => {
  const { copy } = await copied(t);
  const without = await runCli(copy, ["restored", "--acknowledge", "--json"]);
  assert.equal(without.code, 2);
  assert.equal(errorOf(without)["code"], "usage");
  const half = await runCli(copy, ["restored", "--reason", "moved", "--json"]);
  assert.equal(errorOf(half)["code"], "usage");
  const sealing = await runCli(copy, ["seal", "--json"]);
  assert.equal(sealing.code, 4);
  assert.equal(errorOf(sealing)["code"], "store_restored");
  const done = await runCli(copy, ["restored", "--acknowledge", "--reason", "moved to a new disk"]);
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /0 put in doubt, 0 refused, 1 still wait for people/);
  const after = await runCli(copy, ["restored"]);
  assert.equal(after.code, 0);
  const lines = (await runCli(copy, ["export"])).out;
  assert.match(lines, /store\.restored/);
  assert.match(lines, /moved to a new disk/);
  const twice = await runCli(copy, ["restored", "--acknowledge", "--reason", "again", "--json"]);
  assert.equal(twice.code, 1);
  assert.equal(errorOf(twice)["code"], "wrong_state");
});
