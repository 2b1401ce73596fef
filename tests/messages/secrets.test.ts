/** Canary values by every way that a secret comes in: found in no message, no notice, no journal and no answer. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, NotApplied, secret } from "../../src/index.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { blockTexts, checkSlack, checkTeams, HOSTILE, slackIn } from "./chat-payloads.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { readMail, startMailServer } from "./smtp-receiver.ts";

const CANARY = "canary-6f1c2b77e0";
const PASSWORD = "canary-smtp-9a8b7c6d";
const ANN = { by: "person:ann" };

/** Every spelling in which it might turn up. */
const spellings = (value: string): readonly string[] => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString("base64"),
  Buffer.from(value).toString("base64url"),
  Buffer.from(value).toString("hex"),
  [...value].reverse().join(""),
];

const nested = (value: unknown, depth: number): unknown => {
  let inner = value;
  for (let level = 0; level < depth; level++) inner = level % 2 === 0 ? { [`l${level}`]: inner } : [inner];
  return inner;
};

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile());
}

async function exported(hp: Holdpoint): Promise<string> {
  let text = "";
  for await (const line of hp.journal.export()) text += `${line}\n`;
  return text;
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 2_000; round++) {
    if (await look()) return;
    await setTimeout(10);
  }
  throw new Error("it did not come about");
}

const deepText = (args: unknown): string => {
  const text = JSON.stringify(args);
  return new RegExp(`"(${CANARY}[^"]*)"`).exec(text)?.[1] ?? "";
};

/** What goes wrong, comes back and is said, each with the value in it. */
async function play(hp: Holdpoint, handle: unknown): Promise<number> {
  const seen: string[] = [];
  const tell = (args: unknown) => {
    seen.push(deepText(args));
    return deepText(args);
  };
  const ran = [
    hp.gate({ name: "returns", policy: "approve", run: (args: unknown) => ({ deep: [tell(args)] }) }),
    hp.gate({
      name: "throws",
      policy: "approve",
      run: (args: unknown) => {
        throw new Error(`failed with ${tell(args)}`);
      },
    }),
    hp.gate({
      name: "not.applied",
      policy: "approve",
      run: (args: unknown) => {
        throw new NotApplied(`nothing with ${encodeURIComponent(tell(args))}`);
      },
    }),
  ];
  for (const [index, tool] of ran.entries())
    await tool(nested(handle, 20), { requestId: `run-${index}`, waitMs: 0 });
  const asks = hp.gate({ name: "asks", policy: "escalate", run: () => "done" });
  const rejected = await asks(nested(handle, 20), { requestId: "ask-1", waitMs: 0, rationale: HOSTILE });
  const args = { list: [handle, handle], text: HOSTILE };
  const approved = await asks(args, { requestId: "ask-2", waitMs: 0 });
  assert.ok("code" in rejected && "code" in approved);
  await hp.approvals.reject(String(rejected.approval), { ...ANN, reason: `no: ${CANARY}-row` });
  await hp.approvals.approve(String(approved.approval), { ...ANN, note: `yes: ${CANARY}-row` });
  const edited = hp.approvals.approve(String(approved.approval), { ...ANN, edit: { list: `${CANARY}-row` } });
  await assert.rejects(edited);
  return seen.filter((value) => value.includes(CANARY)).length;
}

/** A chat of each kind; its address is a secret too. */
async function addChats(context: TestContext, hp: Holdpoint) {
  const [slack, teams] = [await startReceiver(context), await startReceiver(context)];
  for (const [kind, { url }] of Object.entries({ slack, teams }) as ["slack" | "teams", Receiver][])
    await admin(hp).endpoints.add({ url: `${url}services/${CANARY}-address`, kind, ...ANN });
  return { slack, teams };
}

/** What agents and people wrote is plain text, with hidden characters written out. */
function checkChats({ slack, teams }: { readonly slack: Receiver; readonly teams: Receiver }): void {
  assert.ok(slack.got.length >= 5 && slack.got.length === teams.got.length);
  const messages = slack.got.map(slackIn);
  for (const message of messages) checkSlack(message);
  for (const texts of [messages.flatMap(blockTexts), teams.got.flatMap(checkTeams)]) {
    const quoted = texts.flatMap((text) => text.split("\n")).filter((line) => /^│.*<!channel>/.test(line));
    assert.ok(quoted.some((line) => /^│ <!channel> <https:.*\\u202eneP$/.test(line)));
    assert.ok(quoted.some((line) => /^│ +"text": "<!channel> <https:.*\\u202eneP"$/.test(line)));
    assert.ok(texts.every((text) => !text.includes("\u202e")));
  }
}

test("no secret is in a message, a mail, a chat, a notice, the journal or the store, and a chat shows texts as they are", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const receiver = await startReceiver(context);
  const mail = await startMailServer(context);
  process.env["HOLDPOINT_TEST_CANARY"] = `${CANARY}-env`;
  context.after(() => {
    delete process.env["HOLDPOINT_TEST_CANARY"];
  });
  const hook = await admin(hp).endpoints.add({ url: receiver.url, ...ANN });
  const other = await admin(hp).endpoints.rotate(hook.id, ANN);
  await admin(hp).endpoints.add({ to: ["ann@example.com"], ...ANN });
  const chats = await addChats(context, hp);
  const over = new AbortController();
  const smtpUrl = `smtp://canary-user:${PASSWORD}@127.0.0.1:${mail.port}`;
  const settings = { allowPrivate: true, smtpUrl, mailFrom: "holdpoint@example.com" };
  const delivering = admin(hp).deliver(over.signal, settings);
  mail.answer = (stage) => (stage === "data" ? `451 you said ${PASSWORD}` : "250 ok");
  assert.equal(await play(hp, await hp.putSecret(`${CANARY}-row`)), 3, "the tools got the value itself");
  const env = hp.gate({ name: "env", policy: "escalate", run: () => "done" });
  await env({ key: secret("env:HOLDPOINT_TEST_CANARY") }, { requestId: "env-1", waitMs: 0 });
  await until(async () => (await admin(hp).messages.list({ status: "waiting" })).items.length > 0);
  await until(async () => mail.got.length >= 3);
  mail.answer = () => "250 ok";
  await until(async () => (await admin(hp).messages.count("waiting")) === 0);
  over.abort();
  await delivering;
  assert.ok(receiver.got.length >= 5 && mail.got.length >= 5);
  assert.ok(
    mail.commands.some((line) => line.startsWith("AUTH")),
    "the password was used",
  );

  checkChats(chats);

  const listed = JSON.stringify([
    (await admin(hp).messages.list({ limit: 1_000 })).items,
    await admin(hp).endpoints.list(),
    await admin(hp).endpoints.get(hook.id),
  ]);
  const notices = JSON.stringify(folder.notices, (_key, value) =>
    value instanceof Error ? `${value.stack}` : value,
  );
  const mails = mail.got.map((got) => `${got.raw}\n${readMail(got).text}\n${readMail(got).html}`);
  const texts = {
    webhooks: JSON.stringify(receiver.got),
    chats: [...chats.slack.got, ...chats.teams.got].map(({ body }) => body).join("\n"),
    mails: mails.join("\n"),
    listed,
    notices,
    journal: await exported(hp),
  };
  await hp.close();
  const stored = filesUnder(folder.path)
    .map((file) => readFileSync(file, "latin1"))
    .join("\n");
  const keys = [hook.secret ?? "", other.secret ?? ""].flatMap((key) => [key, key.slice(6)]);
  assert.ok(keys.every((key) => key.length > 40));
  const values = [`${CANARY}-row`, `${CANARY}-env`, `${CANARY}-address`, PASSWORD].flatMap(spellings);
  for (const [where, text] of Object.entries({ ...texts, stored }))
    for (const value of [...values, ...keys]) assert.ok(!text.includes(value), `${value} is in the ${where}`);
});
