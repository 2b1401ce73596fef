import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, test } from "node:test";
import { visible } from "../../kernel/text.ts";
import type { Context } from "./command.ts";
import { printList } from "./lists.ts";
import { createTerminal, type Terminal } from "./terminal.ts";

type Screen = { readonly terminal: Terminal; readonly stdout: EventEmitter; text(): string };

function screen(options: { isTTY?: boolean; columns?: number; env?: Record<string, string> } = {}): Screen {
  const { isTTY = true, columns = 80, env = {} } = options;
  let text = "";
  const write = (part: string) => {
    text += part;
    return true;
  };
  const stdout = Object.assign(new EventEmitter(), { isTTY, columns, write });
  const stderr = Object.assign(new EventEmitter(), { isTTY, write: () => true });
  const terminal = createTerminal({ stdout, stderr, env } as unknown as NodeJS.Process);
  return { terminal, stdout, text: () => text };
}

describe("a terminal", () => {
  test("is coloured only where a person looks and nobody refused", () => {
    assert.equal(screen().terminal.paint("red", "x"), "\u001b[31mx\u001b[39m");
    assert.equal(screen({ isTTY: false }).terminal.paint("red", "x"), "x");
    assert.equal(screen({ env: { NO_COLOR: "1" } }).terminal.paint("red", "x"), "x");
    assert.equal(screen({ env: { NO_COLOR: "" } }).terminal.paint("red", "x"), "\u001b[31mx\u001b[39m");
    assert.equal(screen({ env: { TERM: "dumb" } }).terminal.paint("red", "x"), "x");
  });

  test("shows escapes of hidden characters in a style of their own, and look-alikes plainly", () => {
    const { terminal } = screen();
    assert.equal(terminal.strange(visible("a\u202eb")), "a\u001b[7m\\u202e\u001b[27mb");
    assert.equal(terminal.strange(visible("a\\u202eb")), "a\\\\u202eb");
  });

  test("says nothing more once its reader has gone, and does not fail", () => {
    const { terminal, stdout, text } = screen({ isTTY: false });
    terminal.line("before");
    stdout.emit("error", Object.assign(new Error("gone"), { code: "EPIPE" }));
    terminal.line("after");
    assert.equal(text(), "before\n");
    assert.ok(terminal.closed.aborted);
    assert.equal(terminal.fault(), undefined);
  });

  test("remembers that a full disk swallowed its output", () => {
    const { terminal, stdout } = screen({ isTTY: false });
    stdout.emit("error", Object.assign(new Error("no space"), { code: "ENOSPC" }));
    assert.equal(terminal.fault()?.message, "no space");
  });
});

type Cells = readonly string[];

function printTable(terminal: Terminal, heads: Cells, rows: readonly Cells[], givesWay: Cells = []): void {
  const cells = (row: Cells) => row;
  const layout = { heads, cells, piped: cells, givesWay, empty: "", next: [], total: undefined };
  printList({ terminal, json: false } as Context, { items: rows, isAll: true }, layout);
}

describe("a table", () => {
  const rows = [
    ["apr_1", "3 s", '{"a":1}'],
    ["apr_22", "10 min", `{"b":"${"x".repeat(100)}"}`],
  ];

  test("is aligned, and counts what it cuts", () => {
    const { terminal, text } = screen({ columns: 60, env: { NO_COLOR: "1" } });
    printTable(terminal, ["ID", "AGE", "ARGUMENTS"], rows);
    const [head, first, second] = text().split("\n");
    assert.equal(head, "ID      AGE     ARGUMENTS");
    assert.equal(first, 'apr_1   3 s     {"a":1}');
    assert.match(second ?? "", /^apr_22 {2}10 min {2}\{"b":"x+… \+\d+$/);
    assert.ok((second ?? "").length <= 60);
  });

  test("has one line for each row on a narrow terminal, and leaves out the least important columns first", () => {
    const wide = ["apr_01K9ZQ0000", "3 s", "agent:refund-bot-of-the-shop", "person:ann", "x".repeat(100)];
    const heads = ["ID", "AGE", "AGENT", "OWNER", "ARGUMENTS"];
    for (const columns of [40, 60, 80, 120]) {
      const { terminal, text } = screen({ columns, env: { NO_COLOR: "1" } });
      printTable(terminal, heads, [wide, wide], ["OWNER", "AGE"]);
      const lines = text().trimEnd().split("\n");
      assert.equal(lines.length, 3, text());
      assert.ok(
        lines.every((line) => line.length <= columns),
        text(),
      );
      const shown = lines[0]?.split(/ +/);
      if (columns === 120) assert.deepEqual(shown, heads);
      if (columns === 80) assert.deepEqual(shown, ["ID", "AGE", "AGENT", "ARGUMENTS"]);
      if (columns === 60) assert.deepEqual(shown, ["ID", "AGENT", "ARGUMENTS"]);
    }
  });

  test("leaves out a column that is empty in every row", () => {
    const { terminal, text } = screen({ columns: 200, env: { NO_COLOR: "1" } });
    const row = ["apr_01K9ZQ0000", "3 s", "-", "agent:refund", "x".repeat(100)];
    printTable(terminal, ["ID", "AGE", "DEADLINE", "AGENT", "ARGUMENTS"], [row], ["AGE"]);
    assert.match(text(), /^ID\s+AGE\s+AGENT\s+ARGUMENTS\n/);
  });

  test("cuts no text below its head, not at a space, and the status last", () => {
    const { terminal, text } = screen({ columns: 60, env: { NO_COLOR: "1" } });
    const row = [
      "apr_01K9ZQ0000",
      "in 4 h, later",
      "waiting for somebody",
      "on call of finance",
      "y".repeat(60),
    ];
    printTable(terminal, ["ID", "DEADLINE", "STATUS", "NAME", "WHAT"], [row]);
    const [head = "", line = ""] = text().split("\n");
    assert.equal(head.replaceAll(/ +/g, " "), "ID DEADLINE STATUS WHAT");
    assert.match(line, /^apr_01K9ZQ0000 {2}in 4 h, l… {2}waiting for somebody {2}y{9}…$/);
    const names = screen({ columns: 40, env: { NO_COLOR: "1" } });
    printTable(names.terminal, ["NAME", "WHAT"], [["a bb c dddddddddddddddddddddd", "z".repeat(40)]]);
    assert.match(names.text(), /\na bb c d{11}… {2}z{18}…\n/);
  });

  test("shortens ids in every column", () => {
    const { terminal, text } = screen({ env: { NO_COLOR: "1" } });
    const id = (end: string) => `01M7V6PM3QC3XXXXXXXXXXXXX${end}`;
    const rows = [1, 2].map((at) => [`msg_${id(String(at))}`, "end_01M7V6PM3QC3XXXXXXXXXXXXXX"]);
    printTable(terminal, ["ID", "TO"], rows);
    const to = "end_01M7V6PM3QC3";
    assert.equal(text().split("\n").slice(1, 3).join("\n"), rows.map(([one]) => `${one}  ${to}`).join("\n"));
  });

  test("cuts the widest column where leaving out is not enough, and keeps an id whole", () => {
    const { terminal, text } = screen({ columns: 45, env: { NO_COLOR: "1" } });
    printTable(terminal, ["ID", "AGE", "ARGUMENTS"], rows);
    assert.match(text(), /^ID {6}AGE {5}ARGUMENTS\napr_1 {3}3 s {5}\{"a":1\}\n/);
    const narrow = screen({ columns: 40, env: { NO_COLOR: "1" } });
    printTable(
      narrow.terminal,
      ["ID", "AGENT", "WHAT"],
      [["apr_01K9ZQ0000", "agent:refund-bot", "y".repeat(60)]],
    );
    assert.match(narrow.text(), /^ID {14}AGENT {8}WHAT\napr_01K9ZQ0000 {2}agent:refu… {2}y{10}…\n/);
  });
});
