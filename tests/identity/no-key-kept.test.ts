// What is kept and what is exported holds no key, link or cookie that could be used.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const BY = "person:root";

test("neither the database's file nor the journal's export has a usable secret in it", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  await admin(hp).people.add({ person: "person:ann", mail: "ann@example.com", roles: ["admin"], by: BY });
  const texts: string[] = [];
  for (let at = 0; at < 20; at++) {
    const { key, text } = await admin(hp).keys.issue({
      principal: `agent:a${at}`,
      name: "n",
      roles: ["executor"],
      by: BY,
    });
    const { text: next } = await admin(hp).keys.rotate(key.id, { by: BY });
    texts.push(text, next, (await admin(hp).people.loginLink("person:ann", { by: BY })).link);
  }
  let exported = "";
  for await (const line of hp.journal.export()) exported += line;
  const listed = JSON.stringify([await admin(hp).keys.list({ limit: 1000 }), await admin(hp).people.list()]);
  await hp.close();
  const files = readdirSync(folder.path).map((file) => readFileSync(join(folder.path, file)));
  const kept = [...files, Buffer.from(exported), Buffer.from(listed)];
  assert.ok(exported.includes("key.issued") && exported.includes("login.offered"));
  for (const text of texts) {
    const secret = text.slice(-49, -6);
    const raw = Buffer.from(secret, "base64url");
    for (const needle of [text, secret, raw, raw.toString("hex"), raw.toString("base64").slice(0, 43)])
      assert.ok(!kept.some((bytes) => bytes.includes(needle)), "a secret is kept");
  }
  assert.ok(!listed.includes("hash"), "lists leave the hash out");
});
