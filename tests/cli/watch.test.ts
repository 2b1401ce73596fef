// approvals --watch: woken by what other processes commit, ended by Ctrl-C.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { finished, linesOf, start } from "./bench.ts";

/** Resolves once standard output matches. */
function said(child: ChildProcess, sign: RegExp): Promise<void> {
  let text = "";
  return new Promise((done, fail) => {
    child.stdout?.on("data", (chunk: string) => {
      text += chunk;
      if (sign.test(text)) done();
    });
    child.once("close", () => fail(new Error(`it ended after saying: ${text}`)));
  });
}

test("tells what waits, what is asked and what is decided, and ends with 0 on Ctrl-C", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const tool = hp.gate({ name: "ask", run: (args: { n: number }) => args.n });
  await tool({ n: 1 }, { requestId: "a-1", waitMs: 0 });
  const children = [
    start(folder, ["approvals", "--watch"]),
    start(folder, ["approvals", "--watch", "--json"]),
  ] as const;
  const ends = children.map(finished);
  await Promise.all(children.map((child) => said(child, /a-?sked|"asked"/)));
  const call = tool({ n: 2 }, { requestId: "a-2" });
  await Promise.all(children.map((child) => said(child, /"n\\?":2/)));
  const [, second] = (await hp.approvals.list()).items;
  await hp.approvals.approve(second?.id ?? "", { by: "person:ann" });
  await Promise.all([call, ...children.map((child) => said(child, /consumed/))]);
  for (const child of children) child.kill("SIGINT");
  const [text, json] = await Promise.all(ends);
  assert.deepEqual([text?.code, text?.err, json?.code], [0, "", 0]);
  const lines = linesOf(text?.out ?? "").map((line) => line.split("\t"));
  assert.deepEqual(
    lines.slice(0, 2).map((line) => [line[1], line[3], line[4]]),
    [
      ["asked", "ask", 'agent:tester {"n":1}'],
      ["asked", "ask", 'agent:tester {"n":2}'],
    ],
  );
  assert.equal(lines.at(-1)?.[1], "consumed");
  const changes = linesOf(json?.out ?? "").map((line) => JSON.parse(line));
  assert.deepEqual(
    changes.slice(0, 2).map((change) => change.change),
    ["asked", "asked"],
  );
  assert.equal(changes.at(-1).status, "consumed");
});

test("ends when nobody reads it any more", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const tool = hp.gate({ name: "ask", run: () => 1 });
  await tool({ n: 1 }, { requestId: "a-1", waitMs: 0 });
  const child = start(folder, ["approvals", "--watch"]);
  const end = new Promise((done) => child.once("exit", done));
  child.stdout?.setEncoding("utf8");
  await said(child, /asked/).finally(() => child.stdout?.destroy());
  for (let n = 2; child.exitCode === null && n < 200; n++) {
    await tool({ n }, { requestId: `a-${n}`, waitMs: 0 });
    await new Promise((done) => setTimeout(done, 25));
  }
  assert.equal(await end, 0);
});
