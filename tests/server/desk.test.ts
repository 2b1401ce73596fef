// The desk as the server gives it out: the same files for everybody, under a policy that runs nothing else.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { deskRoutes, readDeskFiles } from "../../src/api/pages/desk.ts";
import { type Route, routeName } from "../../src/api/route.ts";

import { ROOT } from "../docs/markdown.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const DIST = path.join(ROOT, "dashboard/dist");
const PAGES: readonly Route[] = deskRoutes(undefined).filter(
  ({ path: place }) => !place.startsWith("/assets/"),
);
const MOST_BYTES = 200 * 1024;

const page = readFileSync(path.join(DIST, "index.html"), "utf8");
/** What the page names. */
const named = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, name = ""]) => name);

test("every page is the same file, with a policy that lets only the server's own scripts and styles in", async (t) => {
  const { ask } = await serverBench(t, { noAuth: false });
  assert.ok(PAGES.length >= 14);
  for (const { path: place } of PAGES) {
    const answer = await ask(`${place.replace("{id}", "apr_01ARZ3NDEKTSV4RRFFQ69G5FAV")}?tab=journal&x=1`);
    assert.equal(answer.status, 200, place);
    assert.equal(answer.text, page, place);
    assert.match(String(answer.headers["content-type"]), /^text\/html/);
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.equal(answer.headers["x-frame-options"], "DENY");
    const policy = String(answer.headers["content-security-policy"]).split("; ");
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'none'"])
      assert.ok(policy.includes(part), part);
    assert.ok(policy.includes("require-trusted-types-for 'script'"));
    assert.doesNotMatch(policy.join(), /unsafe|\*|https?:/);
  }
});

test("the page comes compressed for whoever takes it, and is the same", async (t) => {
  const { ask } = await serverBench(t, { noAuth: false });
  const small = await ask("/approvals", { headers: { "accept-encoding": "gzip, br" } });
  assert.equal(small.headers["content-encoding"], "br");
  assert.equal(small.headers["cache-control"], "no-store");
  assert.equal(small.headers["vary"], "accept-encoding");
  assert.equal(brotliDecompressSync(readFileSync(path.join(DIST, "index.html.br"))).toString(), page);
  assert.equal(
    Number(small.headers["content-length"]),
    readFileSync(path.join(DIST, "index.html.br")).length,
  );
});

test("the page holds no script, no style and nothing of another host", () => {
  assert.doesNotMatch(page, /<style|<script(?![^>]*\bsrc="\/assets\/)|\son\w+=|https?:\/\//);
  assert.match(page, /<link rel="icon" type="image\/svg\+xml" href="\/assets\//);
});

test("files come with their type, compressed for whoever takes it, and are kept for ever", async (t) => {
  const { ask } = await serverBench(t, { noAuth: false });
  for (const name of named) {
    const plain = await ask(`/assets/${name}`);
    assert.equal(plain.status, 200, name);
    assert.match(String(plain.headers["content-type"]), /javascript|css|svg/);
    assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.equal(plain.headers["vary"], "accept-encoding");
    const small = await ask(`/assets/${name}`, { headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
    assert.equal(small.headers["content-encoding"], "br");
    assert.ok(Number(small.headers["content-length"]) < Number(plain.headers["content-length"]));
    const file = path.join(DIST, "assets", name);
    assert.deepEqual(brotliDecompressSync(readFileSync(`${file}.br`)), readFileSync(file));
  }
  const none = await ask(`/assets/${named[0]}`, { headers: { "accept-encoding": "gzip, brx" } });
  assert.equal(none.headers["content-encoding"], undefined);
});

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

test("an address where nothing is shows a browser the desk, which says so; a program gets a problem", async (t) => {
  const { ask } = await serverBench(t, { noAuth: false });
  for (const place of ["/nope", "/nope/further?x=1", "/apis", "/docs/nope"]) {
    const answer = await ask(place, { headers: BROWSER });
    assert.equal(answer.status, 404, place);
    assert.equal(answer.text, page, place);
    assert.match(String(answer.headers["content-type"]), /^text\/html/);
    assert.match(String(answer.headers["content-security-policy"]), /script-src 'self'/);
    assert.equal(answer.headers["cache-control"], "no-store");
  }
  assert.equal((await ask("/approvals/", { headers: BROWSER })).status, 200);
  const programs = [
    await ask("/nope"),
    await ask("/nope", { headers: { accept: "application/json" } }),
    await ask("/nope", { method: "POST", headers: BROWSER, body: {} }),
    await ask("/api", { headers: BROWSER }),
    await ask("/api?x=1", { headers: BROWSER }),
    await ask("/api/nope", { headers: BROWSER }),
    await ask("/assets/nope.js", { headers: BROWSER }),
  ];
  for (const { status, body, headers } of programs) {
    assert.deepEqual([status, body["code"]], [404, "unknown_route"]);
    assert.match(String(headers["content-type"]), /^application\/problem\+json/);
  }
});

test("no address reaches a file that is not one of the desk's", async (t) => {
  const { ask } = await serverBench(t);
  for (const name of [
    "..%2f..%2fpackage.json",
    "..%2findex.html",
    "../index.html",
    "%2e%2e%2findex.html",
    "..%5c..%5cpackage.json",
    "%2fetc%2fpasswd",
    "__proto__",
    "constructor",
    `${named[0]}.br`,
    `${named[0]}%00`,
    `x/${named[0]}`,
  ]) {
    const answer = await ask(`/assets/${name}`);
    assert.equal(answer.status, 404, name);
    assert.equal(answer.body["code"], "unknown_route");
    assert.equal(answer.headers["cache-control"], "no-store");
  }
  assert.equal((await ask("/favicon.ico")).status, 404);
});

test("nobody has to be anybody, and a credential changes nothing of it", async (t) => {
  const { ask } = await serverBench(t, { noAuth: false });
  assert.ok(deskRoutes(undefined).every(({ scope }) => scope === "public"));
  const stranger = await ask("/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  const wrong = { authorization: "Bearer hpk_no", cookie: "__Host-holdpoint=x" };
  const other = await ask("/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV", { headers: wrong });
  assert.deepEqual([stranger.status, other.status], [200, 200]);
  assert.equal(stranger.text, other.text);
  assert.equal(stranger.headers["set-cookie"], undefined);
});

test("a server whose desk was not built says what to do, and works", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "holdpoint-desk-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal(readDeskFiles(path.join(folder, "none")), undefined);
  writeFileSync(path.join(folder, "index.html"), page);
  assert.equal(readDeskFiles(folder), undefined, "half a build is none");
  for (const route of deskRoutes(undefined)) {
    const handle = route.handle as (asked: object) => Promise<unknown>;
    const asked = { params: { file: "x" }, header: () => undefined };
    await assert.rejects(handle(asked), /not built/, routeName(route));
    await assert.rejects(handle(asked), { next: /npm run build/ });
  }
});

/** The two that text in English is set in; others are loaded when their characters occur. */
const fonts = (css: string): readonly string[] =>
  [...css.matchAll(/\/assets\/([\w-]+-latin-wght-normal-[\w-]+\.woff2)/g)].map(([, name = ""]) => name);

async function weight({ ask }: Bench, name: string): Promise<number> {
  const { headers } = await ask(`/assets/${name}`, { headers: { "accept-encoding": "br" } });
  return Number(headers["content-length"]);
}

test(`what the first page loads is under ${MOST_BYTES / 1024} KB: scripts, styles and the two fonts`, async (t) => {
  const bench = await serverBench(t);
  const css = named.filter((name) => name.endsWith(".css"));
  const latin = css.flatMap((name) => fonts(readFileSync(path.join(DIST, "assets", name), "utf8")));
  assert.equal(new Set(latin).size, 2);
  const loaded = [...new Set([...named, ...latin])];
  const sizes = await Promise.all(loaded.map(async (name) => [name, await weight(bench, name)] as const));
  const sum = sizes.reduce((all, [, size]) => all + size, Buffer.byteLength(page));
  t.diagnostic(`${sum} bytes: ${sizes.map(([name, size]) => `${name} ${size}`).join(", ")}`);
  assert.ok(sum < MOST_BYTES, `${sum} bytes: ${JSON.stringify(sizes)}`);
});
