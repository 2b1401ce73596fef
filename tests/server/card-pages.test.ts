// The pages behind links in messages: they show everything, do nothing, and are for those who may look.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { canonicalJson, digestOf } from "../../src/kernel/canonical-json.ts";
import type { Json } from "../../src/kernel/json.ts";
import { FORBIDDEN } from "../cli/hostile.ts";
import { addPerson, issueApiKey, offerLogin } from "../fixtures/people.ts";
import { type Answered, serverSite } from "../fixtures/server.ts";
import { INJECTIONS } from "../messages/injections.ts";

const by = "person:root";
const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const NAMED: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const OURS = /^(!doctype|html|head|meta|title|style|body|main|div|span|h1|h2|p|a|code)$/i;

/** The lines of the card, as a browser shows them. */
function linesOf({ text }: Answered): readonly string[] {
  const shown = [...text.matchAll(/<span(?: class="heading")?>([^<]*)<\/span>/g)];
  return shown.map(([, line = ""]) =>
    line.replaceAll(/&([#\w]+);/g, (_, name: string) => NAMED[name] ?? "?"),
  );
}

async function asked(hp: Holdpoint, args: Json, says?: string): Promise<string> {
  const pay = payOf(hp);
  const options = {
    requestId: `pay-${count++}`,
    waitMs: 0,
    ...(says === undefined ? {} : { rationale: says }),
  };
  const answer = await pay(args, options);
  assert.ok(answer.status === "pending" && answer.approval !== null, JSON.stringify(answer));
  return answer.approval;
}
let count = 0;
const pays = new WeakMap<Holdpoint, ReturnType<typeof gated>>();
const gated = (hp: Holdpoint) =>
  hp.gate({
    name: "pay",
    policy: { verdict: "escalate", rule: "over-100", reason: "large", decideWithinMs: 3_600_000 },
    run: (_: Json) => "paid",
  });
function payOf(hp: Holdpoint) {
  const known = pays.get(hp) ?? gated(hp);
  pays.set(hp, known);
  return known;
}

test("the page of an approval shows what will run, who asks, rule, deadline, votes, and how to decide", async (t) => {
  const { bench, hp } = await serverSite(t);
  const id = await asked(hp, { amount: 250 }, "please");
  const before = (await bench.server.office()).runtime.store;
  const position = await before.position();
  const page = await bench.ask(`/approvals/${id}/plain`, { headers: HTML });
  assert.equal(page.status, 200, page.text);
  assert.match(String(page.headers["content-type"]), /^text\/html/);
  const policy = String(page.headers["content-security-policy"]);
  assert.match(policy, /^default-src 'none'; .*form-action 'none'; .*style-src 'sha256-[^']+'$/);
  assert.doesNotMatch(`${policy}${page.text}`, /script/i);
  const { binding } = await hp.approvals.get(id);
  const text = linesOf(page).join("\n");
  for (const part of [id, "pending", "pay", "amount: 250", "The agent says", "please", "over-100", "large"])
    assert.ok(text.includes(part), part);
  for (const part of ["decide by", "votes", "none yet", "agent:server", `holdpoint approve ${id}`, binding])
    assert.ok(text.includes(part), part);
  assert.ok(text.includes(`POST /api/approvals/${id}/votes`));
  assert.equal(await before.position(), position, "nothing was written");
  assert.equal((await hp.approvals.get(id)).status, "pending");
  assert.equal((await bench.ask(`/approvals/${id}/plain`, { method: "POST", body: {} })).status, 404);

  await hp.approvals.reject(id, { by, reason: "too much" });
  const after = linesOf(await bench.ask(`/approvals/${id}/plain`, { headers: HTML })).join("\n");
  assert.match(after, /rejected/);
  assert.match(after, /by person:root: too much/);
  assert.ok(!after.includes("POST /api/"));
  const { action } = await hp.approvals.get(id);
  const act = await bench.ask(`/actions/${action}/plain`, { headers: HTML });
  assert.equal(act.status, 200, act.text);
  assert.match(linesOf(act).join("\n"), /What did not run/);
});

test("the card over HTTP and in the library has the sections of the page in words, without values", async (t) => {
  const { bench, hp } = await serverSite(t);
  const id = await asked(hp, { amount: 250, note: "only-in-args" }, "only-in-words");
  const lines = linesOf(await bench.ask(`/approvals/${id}/plain`, { headers: HTML }));
  const { body } = await bench.ask(`/api/approvals/${id}/card`);
  const { sections } = body["card"] as { sections: { heading: string; fields: { label: string }[] }[] };
  for (const { heading, fields } of sections) {
    assert.ok(lines.includes(heading), heading);
    for (const { label } of fields)
      assert.ok(
        lines.some((line) => line.startsWith(`  ${label} `)),
        label,
      );
  }
  assert.doesNotMatch(JSON.stringify(sections), /only-in/);
  const { card } = await hp.approvals.card(id, { person: by });
  assert.deepEqual(card.sections, sections);
  assert.equal(card.shown, (body["card"] as { shown: string }).shown);
});

test(`none of ${INJECTIONS.length} texts does anything on a page, or hides anything of it`, async (t) => {
  const { bench, hp } = await serverSite(t);
  const TOGETHER = 26;
  for (let at = 0; at < INJECTIONS.length; at += TOGETHER) {
    const texts = INJECTIONS.slice(at, at + TOGETHER);
    const args = {
      texts,
      nested: Object.fromEntries(texts.map((one, n) => [`${n} ${one}`.slice(0, 200).toWellFormed(), 1])),
    };
    const id = await asked(hp, args, texts.join("").slice(0, 9_000).toWellFormed());
    const page = await bench.ask(`/approvals/${id}/plain`, { headers: HTML });
    assert.equal(page.status, 200);
    for (const [, tag = ""] of page.text.matchAll(/<\/?([^\s>]*)/g)) assert.match(tag, OURS);
    const lines = linesOf(page);
    for (const line of lines) assert.doesNotMatch(line, FORBIDDEN, JSON.stringify(line));
    const from = lines.findIndex((line) => line.trim() === "as canonical JSON") + 1;
    const until = lines.findIndex((line, n) => n > from && !line.startsWith("  │ "));
    const json = lines
      .slice(from, until)
      .map((line) => line.slice(4))
      .join("");
    assert.equal(canonicalJson(JSON.parse(json)), canonicalJson(args), "every byte is there");
    // Only our own words stand at the margin.
    for (const line of lines.slice(1).filter((one) => /^\S/.test(one)))
      assert.match(line, /^(What |The agent says|Why |Who |When|Next|POST )/, line);
  }
});

test("whoever is nobody is led to the login and back; programs get a problem", async (t) => {
  const { bench, hp } = await serverSite(t, { noAuth: false });
  const id = await asked(hp, { amount: 1 });
  const program = await bench.ask(`/approvals/${id}/plain`);
  assert.deepEqual([program.status, program.body["code"]], [401, "unauthenticated"]);
  const first = await bench.ask(`/approvals/${id}/plain`, { headers: HTML });
  assert.equal(first.status, 401);
  // A browser leaves a strict cookie out when another site led here; the page asks for itself once more.
  assert.match(
    first.text,
    new RegExp(`http-equiv="refresh" content="0; url=/approvals/${id}/plain\\?again=1"`),
  );
  assert.ok(!first.text.includes("amount"));
  const second = await bench.ask(`/approvals/${id}/plain?again=1`, { headers: HTML });
  assert.equal(second.status, 303);
  assert.equal(second.headers["location"], `/login?to=${encodeURIComponent(`/approvals/${id}/plain`)}`);
  const login = await bench.ask(String(second.headers["location"]), { headers: HTML });
  assert.equal(login.status, 200);
  assert.match(login.text, /holdpoint login-link/);

  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["supervisor"], by });
  const { link } = await offerLogin(runtime, by, { by });
  const opened = await bench.ask("/api/session", { method: "POST", body: { link } });
  const [cookie = ""] = String(opened.headers["set-cookie"]).split(";");
  for (const path of [`/approvals/${id}/plain`, `/approvals/${id}/plain?again=1`]) {
    const page = await bench.ask(path, { headers: { ...HTML, cookie } });
    assert.equal(page.status, 200, page.text);
    assert.ok(linesOf(page).join("\n").includes("amount: 1"));
  }
});

test("another tenant's id is a page that says what it says of none, and a narrowed key sees no card", async (t) => {
  const { bench, hp } = await serverSite(t, { noAuth: false });
  const id = await asked(hp, { amount: 1 });
  const { runtime } = await bench.server.office("globex");
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "root", by });
  const ask = (one: string) =>
    bench.ask(`/approvals/${one}/plain`, { headers: { ...HTML, authorization: `Bearer ${text}` } });
  const none = id.replace(/.{6}$/, "ZZZZZZ");
  const [there, nowhere] = [await ask(id), await ask(none)];
  assert.deepEqual([there.status, nowhere.status], [404, 404]);
  assert.match(there.text, /^<!doctype html>/);
  assert.equal(there.text.replaceAll(id, "…"), nowhere.text.replaceAll(none, "…"));
  const odd = await ask("%22%3E%3Cscript%3E");
  assert.equal(odd.status, 404);
  assert.doesNotMatch(odd.text, /<script/);

  const home = (await bench.server.office()).runtime;
  const narrow = { principal: "agent:a", name: "a", roles: ["executor" as const], by };
  const key = await issueApiKey(home, { ...narrow, scopes: ["approvals:read"] });
  const page = await bench.ask(`/approvals/${id}/plain`, {
    headers: { authorization: `Bearer ${key.text}` },
  });
  assert.equal(page.status, 403);
});

test("what is too long for a page is shown by its beginning, with its size, its digest and where all of it is", async (t) => {
  const { bench } = await serverSite(t);
  const long: readonly Json[] = [
    { t: Array.from({ length: 100_000 }, () => 1) },
    { t: "\n".repeat(200_000) },
    { t: "\u0301".repeat(200_000) },
  ];
  for (const args of long) {
    const body = { tool: "note.write", args, agent: "agent:a", rationale: "please" };
    const { body: answer, text } = await bench.ask("/api/actions", { method: "POST", body });
    const id = String(answer["approval_id"]);
    assert.equal(answer["waiting_for"], "approval", text.slice(0, 300));
    const page = await bench.ask(`/approvals/${id}/plain`, { headers: HTML });
    assert.equal(page.status, 200);
    assert.ok(page.text.length < 300_000, `the page has ${page.text.length} characters`);
    const lines = linesOf(page);
    assert.ok(lines.length < 2_000, `the page has ${lines.length} lines`);
    assert.match(lines[0] ?? "", /^Not everything is shown here/);
    const size = Buffer.byteLength(JSON.stringify(args));
    assert.ok(
      lines.some((line) => line === `  args: ${size} bytes, sha256 ${digestOf(args)}`),
      lines[1],
    );
    assert.ok(lines.some((line) => line.includes(`GET /api/approvals/${id}`)));
  }
});
