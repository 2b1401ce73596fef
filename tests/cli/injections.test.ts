// What strangers write, and what a server of a stranger's answers, on the lists and cards of the terminal.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { type Command, type Context, printFailure } from "../../src/cli/shell/command.ts";
import { jsonText, type Terminal } from "../../src/cli/shell/terminal.ts";

import { visible } from "../../src/kernel/text.ts";
import { INJECTIONS } from "../messages/injections.ts";
import { FORBIDDEN } from "./hostile.ts";

const NOW = 1_800_000_000_000;
const id = (prefix: string) => `${prefix}_${"1".padStart(26, "0")}`;

type Screen = { readonly terminal: Terminal; readonly lines: string[] };

function screen(interactive: boolean): Screen {
  const lines: string[] = [];
  const put = (text = "") => void lines.push(text);
  const terminal: Terminal = {
    ...{ interactive, columns: 100, line: put, note: put, closed: new AbortController().signal },
    json: (value) => put(jsonText(value)),
    write: async (text) => put(text),
    progress: () => undefined,
    paint: (_style, text) => text,
    strange: (text) => text,
    fault: () => undefined,
  };
  return { terminal, lines };
}

const page = <Item>(item: Item) => ({ items: [item], next: null });

/** Answers with one text wherever a stranger may have put one, ids and statuses included: the server may be a stranger's too. */
function hostileHp(text: string): Context["hp"] {
  const end = { status: "failed", at: NOW, by: text, reason: text };
  const intent = {
    ...{ id: text, lifecycleStatus: text, status: "failed", intentType: text, from: text, to: text },
    ...{ toAgent: text, requestId: text, parent: text, correlation: text, waitsOn: text, approval: text },
    ...{ payload: { [text]: text, list: [text] }, sentAt: NOW, deliveredAt: NOW, deadline: NOW, end },
    ...{ acknowledged: { at: NOW, by: text }, within: { workflow: text, op: text } },
  };
  const endpoint = {
    ...{ id: text, status: text, name: text, target: { kind: "webhook", url: text }, events: [text] },
    ...{ owner: text, addedAt: NOW, off: { reason: text }, secret: text, secrets: [{}, { until: NOW }] },
  };
  const person = {
    ...{ person: text, name: text, roles: [text], groups: [text], mail: text, suspended: true, since: NOW },
  };
  const key = {
    ...{ id: text, status: "active", principal: text, name: text, roles: [text], scopes: [text] },
    ...{ expiresAt: NOW, by: text },
  };
  const message = {
    ...{ id: text, status: text, attempts: 1, type: text, endpoint: text, to: text, reason: text },
    ...{ madeAt: NOW, dueAt: NOW, last: { status: null, problem: text } },
  };
  const alert = {
    ...{ id: text, status: text, severity: text, acknowledgedBy: text, monitor: text, rule: text },
    ...{ subject: text, says: text, raisedAt: NOW },
  };
  const workflow = {
    ...{ id: text, status: text, passed: 0, checkpoints: 0, attempt: 1, createdAt: NOW, name: text },
    ...{ checkpoint: text, reason: text, held: [] },
  };
  const approval = {
    ...{
      id: text,
      status: text,
      about: text,
      tool: text,
      title: text,
      agent: text,
      args: text,
      reason: text,
    },
    ...{ votes: 0, quorum: 1, stage: 1, stages: 2, from: [text], preview: text, requestedAt: NOW },
  };
  const hp = {
    approvals: { list: async () => page(approval), count: async () => 1 },
    intents: {
      list: async () => page({ ...intent, payload: text }),
      get: async () => intent,
      send: async () => ({ id: text, approval: text, isKnown: false }),
      answer: async () => ({ ...intent, end: { ...end, status: "completed", data: { [text]: text } } }),
      cancel: async () => intent,
    },
    endpoints: {
      list: async () => [endpoint, { ...endpoint, target: { kind: "mail", to: [text, text] } }],
      get: async () => endpoint,
      add: async () => endpoint,
      rotate: async () => endpoint,
      switchOff: async () => endpoint,
      test: async () => ({ message: text, arrived: false, status: null, problem: text }),
    },
    people: {
      list: async () => [person],
      add: async () => person,
      change: async () => person,
      suspend: async () => undefined,
    },
    keys: {
      list: async () => page(key),
      get: async () => key,
      issue: async () => ({ key, text }),
      rotate: async () => ({ key, text }),
      revoke: async () => key,
    },
    messages: { list: async () => page(message), retry: async () => text },
    alerts: { list: async () => page(alert) },
    workflows: { list: async () => page(workflow) },
  };
  return hp as unknown as Context["hp"];
}

type Case = {
  readonly command: Command;
  readonly words: readonly string[];
  readonly flags?: { readonly [name: string]: string };
};

const commandNamed = (name: string): Command =>
  COMMANDS.find((command) => command.name === name) ?? assert.fail(name);
const [intents, endpoints, people, keys] = ["intents", "endpoints", "people", "keys"].map(commandNamed) as [
  Command,
  Command,
  Command,
  Command,
];
const [notifications, alerts, workflows, approvals] = [
  ...["notifications", "alerts", "workflows", "approvals"].map(commandNamed),
] as [Command, Command, Command, Command];

const CASES: readonly Case[] = [
  { command: intents, words: ["list"] },
  { command: intents, words: ["get", id("int")] },
  { command: intents, words: ["send"], flags: { type: "task", to: "agent://doer" } },
  { command: intents, words: ["answer", id("int")] },
  { command: intents, words: ["cancel", id("int")], flags: { reason: "late" } },
  { command: endpoints, words: ["list"] },
  { command: endpoints, words: ["add"], flags: { url: "https://x.example" } },
  { command: endpoints, words: ["rotate", id("end")] },
  { command: endpoints, words: ["off", id("end")] },
  { command: endpoints, words: ["test", id("end")] },
  { command: people, words: ["list"] },
  { command: people, words: ["add", "ann"] },
  { command: people, words: ["change", "ann"], flags: { name: "Ann" } },
  { command: keys, words: ["list"] },
  { command: keys, words: ["issue", "agent:a"], flags: { name: "n", role: "executor" } },
  { command: keys, words: ["rotate", id("key")] },
  { command: keys, words: ["revoke", id("key")], flags: { reason: "lost" } },
  { command: notifications, words: ["list"] },
  { command: notifications, words: ["retry", id("msg")] },
  { command: alerts, words: [] },
  { command: workflows, words: [] },
  { command: approvals, words: [] },
];

const nameOf = ({ command, words }: Case): string => [command.name, ...words].join(" ");

async function shown({ command, words, flags = {} }: Case, text: string, how: Partial<Context> = {}) {
  const { terminal, lines } = screen(how.terminal?.interactive ?? false);
  const values = new Map(Object.entries(flags).map(([name, value]) => [name, [value]] as const));
  const context: Context = {
    ...{ values, words, json: false, full: true, folder: "here", hasStore: true, person: "person:ann" },
    ...{ now: NOW, hp: hostileHp(text) },
    ...how,
    terminal,
  };
  try {
    await command.run(context);
  } catch (error) {
    printFailure(terminal, error, context.json);
  }
  return lines;
}

/** A list in a pipe is one line an item, whatever stands in it; tabs are ours. */
const forbidden = (line: string): boolean => FORBIDDEN.test(line.replaceAll("\t", "")) || /\r/.test(line);

describe(`none of ${INJECTIONS.length} texts is obeyed or hidden`, () => {
  assert.ok(INJECTIONS.length >= 500);
  for (const one of CASES)
    for (const interactive of [false, true])
      test(`by \`holdpoint ${nameOf(one)}\`${interactive ? " for a person" : ""}`, async () => {
        const usual = await shown(one, "usual", { terminal: screen(interactive).terminal });
        const isList = one.words.length < 2 && one.words[0] !== "send" && one.words[0] !== "add";
        for (const text of INJECTIONS) {
          const lines = await shown(one, text, { terminal: screen(interactive).terminal });
          const label = `${nameOf(one)} ${JSON.stringify(text.slice(0, 60))}`;
          assert.ok(!lines.some(forbidden), label);
          if (isList && !interactive) {
            assert.equal(lines.flatMap((line) => line.split("\n")).length, usual.length, label);
            assert.ok(
              lines.some((line) => line.includes(visible(text))),
              `${label} is not shown`,
            );
          }
        }
      });

  test("as JSON, which reads back as what was sent", async () => {
    for (const one of CASES.filter(({ words }) => words.length === 0 || words[0] === "list"))
      for (const text of INJECTIONS) {
        const lines = await shown(one, text, { json: true });
        assert.ok(!lines.some(forbidden), nameOf(one));
        for (const line of lines) assert.ok(JSON.stringify(JSON.parse(line)).includes(JSON.stringify(text)));
      }
  });

  test("as an id that is typed and not found, in any of these commands", async () => {
    const typed = CASES.filter(({ words }) => words.length === 2);
    for (const { command, words, flags } of typed)
      for (const text of INJECTIONS) {
        const given = { command, words: [words[0] ?? "", text], ...(flags === undefined ? {} : { flags }) };
        const lines = await shown(given, text);
        assert.ok(!lines.some(forbidden), `${command.name} ${words[0]} ${JSON.stringify(text.slice(0, 60))}`);
      }
    for (const command of new Set(CASES.map((one) => one.command)))
      for (const text of INJECTIONS) {
        const lines = await shown({ command, words: [text] }, text);
        assert.ok(!lines.some(forbidden), `${command.name} ${JSON.stringify(text.slice(0, 60))}`);
      }
  });
});
