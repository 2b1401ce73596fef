/** The same on the real store, by programs that are killed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const PROGRAM = path.join(import.meta.dirname, `dies${path.extname(import.meta.filename)}`);

async function program(
  ...args: readonly string[]
): Promise<{ signal: string | null; lines: readonly string[] }> {
  const flags = ["--disable-warning=ExperimentalWarning", PROGRAM, ...args];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"], timeout: 60_000 });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  return { signal, lines: text.split("\n").filter((line) => line !== "") };
}

async function typesOf(hp: Holdpoint): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const line of hp.journal.export()) {
    const { entry } = JSON.parse(line) as { entry?: { header: string } };
    if (entry !== undefined) found.push((JSON.parse(entry.header) as { type: string }).type);
  }
  return found;
}

const count = (types: readonly string[], type: string): number => types.filter((one) => one === type).length;

describe("on SQLite", () => {
  const places = [
    ["before_checkpoint", "1"],
    ["after_checkpoint", "1"],
    ["before_fact", "2"],
  ] as const;
  for (const [point, at] of places)
    test(`killed at ${point}, time ${at}: one alert, one checkpoint, and the workflow ends as it should`, async (context) => {
      const folder = temporaryFolder(context);
      const first = await program(folder.path, point, at);
      assert.equal(first.signal, "SIGKILL");
      const second = await program(folder.path, "", "0", "approve");
      assert.equal(
        second.lines.at(-1)?.startsWith("notice") ? second.lines.at(-2) : second.lines.at(-1),
        "end [10,20,30,40,50]",
      );
      const hp = folder.open({ keyFile: `${folder.path}/key.json` });
      const types = await typesOf(hp);
      assert.equal(count(types, "alert.raised"), 1);
      assert.equal(count(types, "checkpoint.raised"), 1);
      assert.equal(count(types, "alert.cleared"), 1, "with the end of the workflow");
      const { findings } = await hp.journal.verify();
      assert.deepEqual(findings, []);
      await hp.close();
    });

  test("two instances with the same monitor raise one alert; it is acknowledged and listed by a third", async (context) => {
    const folder = temporaryFolder(context);
    const [one, two] = [folder.open(), folder.open({ agent: "other" })];
    const rules = [{ kind: "rate", name: "busy", of: "calls", windowMs: 3_600_000, above: 2 }] as const;
    const monitors = await Promise.all([one, two].map((hp) => hp.monitor({ name: "watch", rules })));
    await assert.rejects(one.monitor({ name: "watch", rules }), /runs here already/);
    const ping = one.gate({ name: "ping", policy: "approve", effect: "read", run: () => 1 });
    for (let n = 0; n < 5; n++) await ping({}, { requestId: `p${n}` });
    for (const monitor of monitors) await monitor.caughtUp();
    const people = folder.open({ agent: "people" });
    const { items } = await people.alerts.list();
    assert.equal(items.length, 1);
    const id = items[0]?.id ?? "";
    assert.deepEqual(await people.alerts.find(id.slice(0, 12)), [id]);
    await people.alerts.acknowledge(id, { by: "person:ann", note: "seen" });
    assert.equal((await one.alerts.get(id)).acknowledged?.note, "seen");
    for (const hp of [people, two, one]) await hp.close();
    assert.equal(folder.notices.filter(({ kind }) => kind === "alert").length, 1);
    const last = folder.open();
    const again = await last.monitor({ name: "watch", rules });
    await again.caughtUp();
    assert.equal(count(await typesOf(last), "alert.raised"), 1);
    await last.close();
  });

  test("closing the instance ends a monitor that keeps its place first", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const rules = [{ kind: "rate", name: "busy", of: "calls", windowMs: 3_600_000, above: 9 }] as const;
    await hp.monitor({ name: "watch", rules });
    const ask = hp.gate({ name: "ask", policy: "escalate", run: () => 1 });
    const waits = ask({}, { requestId: "one" });
    await hp.approvals.reject(await pendingApproval(hp), { by: "person:ann", reason: "no" });
    await waits;
    await hp.close();
    const next = folder.open();
    const moved = count(await typesOf(next), "monitor.moved");
    assert.equal(moved, 2, "when it began, and when it ended");
    await next.close();
  });
});
