/** Monitors on a real store, by programs that are killed and instances side by side: the same suite for every store. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { admin, type MonitorRule } from "../../src/admin.ts";
import type { Holdpoint, HoldpointOptions, Notice } from "../../src/index.ts";
import { pendingApproval } from "../fixtures/folder.ts";

/** A store of its own for one test. */
export type Ground = {
  readonly notices: readonly Notice[];
  /** What `dies.ts` needs to find it, as JSON. */
  readonly address: string;
  /** Another instance on it; closed after the test if the test did not. */
  open(options?: HoldpointOptions): Promise<Holdpoint>;
};

const PROGRAM = path.join(import.meta.dirname, `dies${path.extname(import.meta.filename)}`);

async function program(
  ...args: readonly string[]
): Promise<{ signal: string | null; lines: readonly string[] }> {
  const flags = ["--disable-warning=ExperimentalWarning", PROGRAM, ...args];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"], timeout: 120_000 });
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

const busy = (above: number) =>
  [{ kind: "rate", name: "busy", of: "calls", windowMs: 3_600_000, above }] as const;

const PLACES = [
  ["before_checkpoint", "1"],
  ["after_checkpoint", "1"],
  ["before_fact", "2"],
] as const;

async function killed(ground: Ground, point: string, at: string): Promise<void> {
  const first = await program(ground.address, point, at);
  assert.equal(first.signal, "SIGKILL");
  const second = await program(ground.address, "", "0", "approve");
  assert.ok(second.lines.includes("end [10,20,30,40,50]"), second.lines.join("\n"));
  const hp = await ground.open();
  const types = await typesOf(hp);
  assert.equal(count(types, "alert.raised"), 1);
  assert.equal(count(types, "checkpoint.raised"), 1);
  assert.equal(count(types, "alert.cleared"), 1, "with the end of the workflow");
  const { findings } = await hp.journal.verify();
  assert.deepEqual(findings, []);
  await hp.close();
}

async function sideBySide(ground: Ground): Promise<void> {
  const [one, two] = [await ground.open(), await ground.open({ agent: "other" })];
  const rules = busy(2);
  const monitors = await Promise.all([one, two].map((hp) => admin(hp).monitor({ name: "watch", rules })));
  await assert.rejects(admin(one).monitor({ name: "watch", rules }), /runs here already/);
  const ping = one.gate({ name: "ping", policy: "approve", effect: "read", run: () => 1 });
  for (let n = 0; n < 5; n++) await ping({}, { requestId: `p${n}` });
  for (const monitor of monitors) await monitor.caughtUp();
  const people = await ground.open({ agent: "people" });
  const { items } = await admin(people).alerts.list();
  assert.equal(items.length, 1);
  const id = items[0]?.id ?? "";
  assert.deepEqual(await admin(people).alerts.find(id.slice(0, 12)), [id]);
  await admin(people).alerts.acknowledge(id, { by: "person:ann", note: "seen" });
  assert.equal((await admin(one).alerts.get(id)).acknowledged?.note, "seen");
  for (const hp of [people, two, one]) await hp.close();
  assert.equal(ground.notices.filter(({ kind }) => kind === "alert").length, 1);
  const last = await ground.open();
  const again = await admin(last).monitor({ name: "watch", rules });
  await again.caughtUp();
  assert.equal(count(await typesOf(last), "alert.raised"), 1);
  await last.close();
}

async function closing(ground: Ground): Promise<void> {
  const hp = await ground.open();
  await admin(hp).monitor({ name: "watch", rules: busy(9) });
  const ask = hp.gate({ name: "ask", policy: "escalate", run: () => 1 });
  const waits = ask({}, { requestId: "one" });
  await hp.approvals.reject(await pendingApproval(hp), { by: "person:ann", reason: "no" });
  await waits;
  await hp.close();
  const next = await ground.open();
  const moved = count(await typesOf(next), "monitor.moved");
  assert.equal(moved, 2, "when it began, and when it ended");
  await next.close();
}

/** Says so when it has seen that many proposals, and again if it sees one more. */
const counts = (name: string, wanted: number): MonitorRule => ({
  kind: "when",
  name,
  per: "all",
  condition: ({ type }, state) => {
    if (type !== "action.proposed") return undefined;
    const seen = Number(state ?? 0) + 1;
    return { state: seen, holds: seen >= wanted, figures: { seen } };
  },
});

/** Commits that overtake each other may show in the log in another order than they began. */
async function everyEntryOnce(ground: Ground): Promise<void> {
  const [CALLS, WRITERS] = [15, 4];
  const watching = await ground.open({ agent: "watching" });
  const all = CALLS * WRITERS;
  const rules = [counts("all of them", all), counts("one twice", all + 1)];
  const monitor = await admin(watching).monitor({ name: "count", rules });
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, (_, n) => ground.open({ agent: `w${n}` })),
  );
  const work = writers.map(async (hp, n) => {
    const ping = hp.gate({ name: `ping${n}`, policy: "approve", effect: "idempotent", run: () => 1 });
    await Promise.all(Array.from({ length: CALLS }, (_, call) => ping({}, { requestId: `${n}-${call}` })));
  });
  await Promise.all(work);
  await monitor.caughtUp();
  const { items } = await admin(watching).alerts.list({ status: "any" });
  assert.deepEqual(
    items.map(({ rule }) => rule),
    ["all of them"],
  );
  for (const hp of [...writers, watching]) await hp.close();
}

async function silence(ground: Ground): Promise<void> {
  const hp = await ground.open();
  const rules = [{ kind: "silence", name: "hangs", forMs: 200 }] as const;
  await admin(hp).monitor({ name: "watch", rules });
  const over = Promise.withResolvers<void>();
  const flow = hp.workflow("slow", async (ctx, _: object) => ctx.step("wait", () => over.promise));
  const { id, result } = await flow.start({});
  const standing = async () => (await admin(hp).alerts.list()).items;
  while ((await standing()).length === 0) await new Promise((done) => setTimeout(done, 20));
  assert.equal((await standing())[0]?.["subject"], `workflow:${id}`);
  over.resolve();
  assert.equal((await result()).status, "completed");
  while ((await standing()).length > 0) await new Promise((done) => setTimeout(done, 20));
  await hp.close();
}

/** Each on a store of its own. */
export const CASES: readonly (readonly [title: string, run: (ground: Ground) => Promise<void>])[] = [
  ...PLACES.map(
    ([point, at]) =>
      [
        `killed at ${point}, time ${at}: one alert, one checkpoint, and the workflow ends as it should`,
        (ground: Ground) => killed(ground, point, at),
      ] as const,
  ),
  ["in two instances it raises one alert, which a third lists and acknowledges", sideBySide],
  ["it keeps its place before the instance closes", closing],
  ["it sees every entry once, however many write at the same time", everyEntryOnce],
  ["it finds by the time alone that a workflow is silent, and that it is not any more", silence],
];
