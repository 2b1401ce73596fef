import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { delegate } from "../../src/approvals/rules/delegate.ts";
import { cardLines } from "../../src/cli/shell/sections.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { CardSections } from "../../src/kernel/terminal.ts";
import { composeMail } from "../../src/notify/mail.ts";
import { isMailAddress } from "../../src/notify/post.ts";
import { ANNOUNCED_EVENTS, announcementOf, cutTitle } from "../../src/notify/rules/announced-events.ts";
import { runCommand } from "../../src/runtime/store-access.ts";
import { FORBIDDEN } from "../cli/hostile.ts";
import { START } from "../fixtures/runtime.ts";
import { ANN, type Bench, bench, type Desk } from "./bench.ts";
import { INJECTIONS } from "./injections.ts";
import { type MailServer, type ReadMail, readMail, startMailServer } from "./smtp-receiver.ts";

const FROM = "holdpoint@example.com";
const HEADERS = [
  "auto-submitted",
  "content-type",
  "date",
  "from",
  "message-id",
  "mime-version",
  "subject",
  "to",
  "x-auto-response-suppress",
];
const TAGS = /<\/?([a-z!]+)[^>]*>/gi;
const OURS = new Set(["!doctype", "html", "head", "meta", "body", "p", "a", "br", "pre", "span"]);

/** Its clock runs a hundred times as fast: what takes long here must not be sent a second time. */
const openDesk = (place: Bench, { url }: MailServer): Desk =>
  place.open({}, { mail: { smtpUrl: url, from: FROM }, timeoutMs: 60_000 });

const unescaped = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** The arguments as the card has them in canonical JSON: whatever was typed has to be read out of it again. */
function argumentsIn(lines: readonly string[]): Json {
  const from = lines.findIndex((line) => line.trim() === "as canonical JSON");
  const rest = lines.slice(from + 1);
  const end = rest.findIndex((line) => !line.startsWith("  │ "));
  return JSON.parse(
    rest
      .slice(0, end)
      .map((line) => line.slice(4))
      .join(""),
  ) as Json;
}

function checkHtml({ html, text }: ReadMail, link: string, what: string): void {
  for (const [, tag = ""] of html.matchAll(TAGS)) assert.ok(OURS.has(tag.toLowerCase()), `${what}: <${tag}>`);
  assert.deepEqual(
    [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href),
    [link],
    what,
  );
  assert.doesNotMatch(html, /\son\w+\s*=[^<]*>|<[^>]+\b(?:src|style)=/i, what);
  const shown = unescaped(html.slice(html.indexOf("<pre>"), html.indexOf("</pre>")));
  assert.ok(text.startsWith(shown.trimEnd()), `${what}: both texts say the same`);
}

function checkMail(mail: ReadMail, args: Json, approval: string): void {
  const what = JSON.stringify(args).slice(0, 80);
  const link = `https://holdpoint.example/approvals/${approval}`;
  assert.deepEqual([...mail.headers.keys()].toSorted(), HEADERS, what);
  assert.equal(mail.parts, 2, what);
  assert.equal(mail.headers.get("subject"), "[Holdpoint] Approval needed: payments.refund", what);
  assert.equal(mail.headers.get("to"), "ann@example.com", what);
  assert.doesNotMatch(mail.text, FORBIDDEN, what);
  assert.doesNotMatch(unescaped(mail.html), FORBIDDEN, what);
  const foreign = mail.text.replace(`Open: ${link}`, "");
  assert.doesNotMatch(foreign, /:\/\/|www\./i, `${what}: nothing to click on but our own link`);
  assert.doesNotMatch(mail.html.replaceAll(link, ""), /:\/\/|www\.|[\w-]\.[a-z]{2,}\//i, what);
  checkHtml(mail, link, what);
  assert.deepEqual(argumentsIn(mail.text.split("\n")), args, what);
}

describe("mail", () => {
  test("goes to those whom the endpoint means, each for themselves, with the card that the terminal shows", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    await desk.member("person:ann", { mail: "ann@example.com", roles: ["supervisor"] });
    await desk.member("person:bob", { mail: "bob@example.com", groups: ["finance"] });
    await desk.member("person:cy", { mail: null, roles: ["supervisor"] });
    const to = ["role:supervisor", "group:finance", "person:ann", "ops@example.com"];
    await desk.endpoints.add({ to, events: ["approval.requested"], ...ANN });
    desk.deliver();
    const approval = await desk.ask({ amount: 12 }, "it is urgent");
    await place.until(async () => (await desk.messages.count("delivered")) === 3);
    assert.deepEqual(server.got.flatMap((got) => got.to).toSorted(), [
      "TO:<ann@example.com>",
      "TO:<bob@example.com>",
      "TO:<ops@example.com>",
    ]);
    const mails = server.got.map(readMail);
    assert.equal(new Set(mails.map(({ headers }) => headers.get("message-id"))).size, 3);
    for (const { text, headers } of mails) {
      assert.equal(headers.get("from"), `Holdpoint <${FROM}>`);
      assert.equal(new Date(headers.get("date") ?? "").getTime(), START);
      assert.match(text, /What will run, if people agree\n {2}tool +payments\.refund/);
      assert.match(text, /The agent says \(its own words, not checked\)\n {2}│ it is urgent/);
      assert.match(text, new RegExp(`Open: https://holdpoint\\.example/approvals/${approval}\n`));
      assert.doesNotMatch(text, /npx|binding [0-9a-f]{12}\b/);
    }
  });

  test("to approvers goes to whoever may decide, and to nobody of something that nobody decides", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    for (const name of ["ann", "bob"]) await desk.member(`person:${name}`, { mail: `${name}@example.com` });
    await desk.endpoints.add({ to: ["approvers"], ...ANN });
    desk.deliver();
    const verdict = { verdict: "escalate", approvers: { quorum: 1, from: ["person:bob"] } } as const;
    const tool = desk.gate({ name: "wire", policy: () => verdict, run: () => "done" });
    await tool({}, { waitMs: 0 });
    await desk.switch.pause({ by: "person:ann", reason: "drill" });
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    assert.deepEqual(
      server.got.map((got) => got.to),
      [["TO:<bob@example.com>"]],
    );
  });

  test("to approvers reaches whom a seat was handed to, and no longer whoever handed it over", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    for (const name of ["ann", "bob"]) await desk.member(`person:${name}`, { mail: `${name}@example.com` });
    await desk.endpoints.add({ to: ["approvers"], events: ["approval.delegated"], ...ANN });
    const verdict = { verdict: "escalate", approvers: { quorum: 1, from: ["person:bob"] } } as const;
    const tool = desk.gate({ name: "wire", policy: () => verdict, run: () => "done" });
    const asked = await tool({}, { waitMs: 0 });
    assert.ok("code" in asked);
    const seat = {
      approval: String(asked.approval),
      by: "person:bob",
      to: "person:ann",
      reason: "away",
      via: "test",
    };
    await runCommand(desk.runtime, {}, (draft) => delegate(draft, seat));
    desk.deliver();
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    assert.deepEqual(
      server.got.flatMap((got) => got.to),
      ["TO:<ann@example.com>"],
    );
    const [mail] = server.got.map(readMail);
    assert.equal(mail?.headers.get("subject"), "[Holdpoint] Approval needed, handed over: wire");
  });

  test("to approvers tells what the agent answers, with the card that has it, and not what they write themselves", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    await desk.member("person:bob", { mail: "bob@example.com" });
    await desk.endpoints.add({ to: ["approvers"], events: ["approval.commented"], ...ANN });
    const verdict = { verdict: "escalate", approvers: { quorum: 1, from: ["person:bob"] } } as const;
    const asked = await desk.gate({ name: "wire", policy: () => verdict, run: () => "done" })(
      {},
      { waitMs: 0 },
    );
    assert.ok("code" in asked);
    const id = String(asked.approval);
    await desk.approvals.comment(id, { by: "person:bob", text: "to whom?" });
    await desk.approvals.comment(id, { by: "agent:tester", text: "to the landlord, www.evil.example" });
    desk.deliver();
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    assert.deepEqual(
      server.got.flatMap((got) => got.to),
      ["TO:<bob@example.com>"],
    );
    const [mail] = server.got.map(readMail);
    assert.equal(mail?.headers.get("subject"), "[Holdpoint] Comment, before it is decided: wire");
    assert.match(String(mail?.text), /to whom\?[\s\S]*agent wrote agent:tester[\s\S]*to the landlord/);
    assert.doesNotMatch(String(mail?.text), /www\.evil/);
  });

  test("that a server refuses is tried again under the same id; what the server wrote is nowhere", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    await desk.endpoints.add({ to: ["ann@example.com"], events: ["approval.requested"], ...ANN });
    server.answer = (stage) => (stage === "data" ? "451 canary-text of the server" : "250 ok");
    desk.deliver();
    await desk.ask();
    await place.until(() => server.got.length === 1);
    const failed = await place.until(async () => {
      const [one] = (await desk.messages.list()).items;
      return one?.["attempts"] === 1 && one;
    });
    assert.partialDeepStrictEqual(failed, { status: "waiting", last: { status: 451, problem: "EMESSAGE" } });
    assert.doesNotMatch(JSON.stringify(failed), /canary/);
    server.answer = () => "250 ok";
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    const ids = server.got.map((got) => readMail(got).headers.get("message-id"));
    assert.deepEqual(ids, [`<${failed.id}@example.com>`, `<${failed.id}@example.com>`]);
  });

  test("for a person who has no address any more is dropped, and shows it", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    await desk.endpoints.add({ to: ["person:nobody"], events: ["approval.requested"], ...ANN });
    desk.deliver();
    await desk.ask();
    await place.until(async () => (await desk.messages.count("dropped")) === 1);
    assert.match(String((await desk.messages.list()).items[0]?.["reason"]), /no mail address/);
    assert.equal(server.got.length, 0);
  });

  test("waits where there is no mail server to send it by", async (context) => {
    const place = bench(context);
    const [without, server] = [place.open(), await startMailServer(context)];
    await without.endpoints.add({ to: ["ann@example.com"], events: ["approval.requested"], ...ANN });
    without.deliver();
    await without.ask();
    await place.until(async () => (await without.messages.count("waiting")) === 1);
    openDesk(place, server).deliver();
    await place.until(async () => (await without.messages.count("delivered")) === 1);
    assert.equal(server.got.length, 1);
  });

  test("of what nobody is asked about shows the facts", async (context) => {
    const place = bench(context);
    const server = await startMailServer(context);
    const desk = openDesk(place, server);
    await desk.endpoints.add({ to: ["ann@example.com"], events: ["switch.*"], ...ANN });
    desk.deliver();
    await desk.switch.pause({ by: "person:ann", reason: "drill </pre> https://evil.example" });
    await place.until(() => server.got.length === 1);
    const [mail] = server.got.map(readMail);
    assert.equal(mail?.headers.get("subject"), "[Holdpoint] Stopped by the kill switch: tenant");
    assert.match(mail?.text ?? "", /reason: "drill <\/pre> https:\\u002f\\u002fevil\.example"/);
  });
});

test(`none of ${INJECTIONS.length} texts does anything in a mail or hides anything on a card`, async (context) => {
  assert.ok(INJECTIONS.length >= 500);
  const place = bench(context);
  const server = await startMailServer(context);
  const desk = openDesk(place, server);
  await desk.endpoints.add({ to: ["ann@example.com"], events: ["approval.requested"], ...ANN });
  desk.deliver();
  const asked = new Map<string, Json>();
  const TOGETHER = 4;
  for (let at = 0; at < INJECTIONS.length; at += TOGETHER) {
    const texts = INJECTIONS.slice(at, at + TOGETHER);
    const keys = texts.map((text) => [`key ${text}`.slice(0, 200).toWellFormed(), 1]);
    const args: Json = { texts, nested: Object.fromEntries(keys) };
    asked.set(await desk.ask(args, texts.join("").slice(0, 9_000).toWellFormed()), args);
  }
  const count = asked.size;
  await place.until(async () => (await desk.messages.count("delivered")) === count);
  assert.equal(server.got.length, count);
  for (const got of server.got) {
    assert.deepEqual([got.from, got.to], [`FROM:<${FROM}>`, ["TO:<ann@example.com>"]]);
    for (const line of got.raw.split("\r\n"))
      assert.ok(line.length <= 998, "a line that is too long for mail");
    assert.doesNotMatch(got.raw, /[^\r]\n|\r[^\n]/, "line ends are whole");
    const mail = readMail(got);
    const approval = /Approval (apr_\w+)/.exec(mail.text)?.[1] ?? "";
    checkMail(mail, asked.get(approval) ?? null, approval);
    asked.delete(approval);
  }
  assert.equal(asked.size, 0, "each mail was about its own");
  const said = server.commands.filter((line) => line !== "QUIT").map((line) => line.slice(0, 4));
  assert.deepEqual([...new Set(said)].toSorted(), ["DATA", "EHLO", "MAIL", "RCPT"]);
  assert.equal(said.length, 4 * count, "no mail became a command");
});

test("a name that is hostile stays in the subject, on one line", () => {
  for (const name of INJECTIONS) {
    const title = cutTitle("Approval needed", name);
    const { subject, html } = composeMail({ title, type: "x", at: START }, [], null);
    assert.doesNotMatch(subject, FORBIDDEN, JSON.stringify(name));
    assert.doesNotMatch(subject, /:\/\/|www\./i);
    for (const [, tag = ""] of html.matchAll(TAGS))
      assert.ok(OURS.has(tag.toLowerCase()), JSON.stringify(name));
  }
});

test("a title of hostile arguments stays in the subject, on one line", () => {
  const ref = { kind: "approval", id: "apr_1" } as const;
  for (const text of INJECTIONS)
    for (const titleTemplate of ["Refund {amount} to {to}", text.slice(0, 200)]) {
      const first = { tool: "refund", titleTemplate, args: { to: text, amount: 900, [text]: text } };
      const { titleTemplate: _, ...untitled } = first;
      for (const one of [first, untitled]) {
        const said = announcementOf("approval.requested", ref, { first: one, body: {} });
        const { title = "", data } = said ?? {};
        assert.equal(title, `Approval needed: ${data?.["title"]}`);
        const { subject, html } = composeMail({ title, type: "x", at: START }, [], null);
        assert.doesNotMatch(subject, FORBIDDEN, JSON.stringify(text));
        assert.doesNotMatch(subject, /:\/\/|www\./i);
        assert.ok(title.length <= "Approval needed: ".length + 120);
        for (const [, tag = ""] of html.matchAll(TAGS))
          assert.ok(OURS.has(tag.toLowerCase()), JSON.stringify(text));
      }
    }
});

test("the subject has the tool's title, with the arguments as people changed them", async (context) => {
  const place = bench(context);
  const server = await startMailServer(context);
  const desk = openDesk(place, server);
  const refund = desk.gate({ name: "refund", title: "Refund {amount} to {to}", run: () => "done" });
  const events = ["approval.requested", "approval.revised"];
  await desk.endpoints.add({ to: ["ann@example.com"], events, ...ANN });
  desk.deliver();
  const call = refund({ amount: 900, to: "Ann\r\nBcc: x" }, { requestId: "r-1" });
  await place.until(() => server.got.length === 1);
  const [{ id = "" } = {}] = (await desk.approvals.list()).items;
  await desk.approvals.approve(id, { by: "person:ann", edit: { amount: 40 } });
  assert.equal((await call).status, "done");
  await place.until(() => server.got.length === 2);
  const subjects = server.got.map((got) => readMail(got).headers.get("subject"));
  assert.deepEqual(subjects, [
    "[Holdpoint] Approval needed: Refund 900 to Ann\\r\\nBcc: x",
    "[Holdpoint] Approval needed, changed: Refund 40 to Ann\\r\\nBcc: x",
  ]);
});

test("what is too long for a mail is cut, and how much is said", () => {
  const lines = Array.from({ length: 9_000 }, (_, index) => `${index} ${"x".repeat(60)}`);
  const { text } = composeMail({ title: "t", type: "x", at: START }, lines, null);
  assert.ok(text.length < 210_000);
  const [, left, characters] = /… (\d+) more lines, (\d+) characters: open it to see them\n/.exec(text) ?? [];
  const kept = lines.slice(0, lines.length - Number(left));
  assert.equal(lines.slice(kept.length).join("\n").length + 1, Number(characters));
  assert.ok(text.includes(kept.at(-1) ?? "?"));
});

test("a card of facts shows every one of them", () => {
  const facts = { scope: "tenant", reason: "\u202eevil", list: [1, { deep: "<b>" }] };
  const sections = { "What happened": { facts: { value: facts } } };
  const badge = { text: "switch.stopped", tone: "bold" } as const;
  const lines = cardLines({ title: "switch", badge, sections, next: [] }, START).join("\n");
  assert.match(lines, /reason: "\\u202eevil"/);
  assert.match(lines, /deep: "<b>"/);
  assert.ok(ANNOUNCED_EVENTS.has("switch.stopped"));
});

test("a very long list of lines is shown from its beginning, and how many there are is said first", () => {
  const warnings = Array.from({ length: 3_000 }, (_, index) => `mail.send (act_${index}) stays done`);
  const badge = { text: "pending", tone: "bold" } as const;
  for (const kind of ["warnings", "lines", "paragraphs", "block"]) {
    const sections = { Lost: { lost: { [kind]: warnings } } } as unknown as CardSections;
    const lines = cardLines({ title: "apr_1", badge, sections, next: [] }, START);
    assert.ok(lines.includes("  lost: the first 500 of 3000 lines"), kind);
    assert.equal(lines.filter((line) => line.includes("stays done")).length, 500, kind);
  }
});

test("only one plain address is a mail address", () => {
  for (const good of ["ann@example.com", "a.b+c@sub.example.co", "x@localhost"])
    assert.ok(isMailAddress(good), good);
  for (const bad of [
    "",
    "ann",
    "@example.com",
    "ann@",
    "a b@example.com",
    "ann@example.com, bob@example.com",
    "<ann@example.com>",
    "Ann <ann@example.com>",
    "ann@example.com\r\nBcc: x@evil.example",
    "ann@example.com\n",
    "ann\u200b@example.com",
    "ann@exa mple.com",
    '"a b"@example.com',
    "ann@[127.0.0.1]",
    "ann@example..com",
    "ann@-example.com",
    "ann;bob@example.com",
    "ann@example.com>",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(64)}.com`,
    null,
    7,
  ])
    assert.ok(!isMailAddress(bad), String(bad));
});
