/**
 * Writes a journal of this version as a file, which every later version has to read: `node write.ts <file>`. Done once for each
 * release, and for each event whose version is raised; a file that is there is never written again.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { join } from "node:path";

// The file is nobody's machine's.
os.hostname = () => "machine";
syncBuiltinESMExports();
const { holdpoint, NotApplied } = await import("../../../src/index.ts");

const [file = ""] = process.argv.slice(2);
if (file === "" || existsSync(file)) throw new Error(`"${file}" is there, or is no file`);
const folder = mkdtempSync(join(tmpdir(), "holdpoint-journal-"));
const hp = holdpoint({ folder, keyFile: join(folder, "key.json"), agent: "writer", notify: () => undefined });
const ANN = { by: "person:ann" };

const asked = hp.gate({
  name: "asked",
  policy: "escalate",
  effect: "idempotent",
  run: ({ n }: { n: number }) => ({ n }),
  undo: ({ n }) => ({ undone: n }),
});
const plain = hp.gate({ name: "plain", policy: "approve", run: ({ n }: { n: number }) => n });
const looked = hp.gate({ name: "looked", policy: "approve", effect: "read", run: () => "seen" });
const blocked = hp.gate({ name: "blocked", policy: "block", run: () => "never" });
const fails = hp.gate({
  name: "fails",
  policy: "approve",
  run: () => {
    throw new NotApplied("it is closed");
  },
});
const doubts = hp.gate({
  name: "doubts",
  policy: "approve",
  run: () => {
    throw new Error("no answer");
  },
});
const paid = hp.gate({
  name: "paid",
  policy: "approve",
  cost: () => ({ budget: "trip", amount: { currency: "USD", micros: 1_000_000n } }),
  run: () => "paid",
});

async function ask(n: number): Promise<string> {
  const answer = await asked({ n }, { waitMs: 0, requestId: `asked ${n}` });
  return answer.status === "pending" ? String(answer.approval) : "";
}
const again = (n: number) => asked({ n }, { waitMs: 0, requestId: `asked ${n}` });

await plain({ n: 1 }, { requestId: "plain 1" });
await plain({ n: 2 }, { requestId: "plain 1" }).catch(() => undefined);
await looked({}, { requestId: "looked" });
await blocked({}, { requestId: "blocked" });
await fails({}, { requestId: "fails" });
const doubt = await doubts({}, { requestId: "doubts" });
if (doubt.status === "in_doubt")
  await hp.actions.resolve(doubt.effect, { ...ANN, status: "applied", reason: "I looked" });
await hp.budgets.limit("trip", { currency: "USD", micros: 5_000_000n });
await paid({}, { requestId: "paid" });

await hp.approvals.approve(await ask(1), ANN);
await again(1);
await hp.approvals.reject(await ask(2), { ...ANN, reason: "no" });
await hp.approvals.approve(await ask(3), { ...ANN, edit: { n: 33 } });
await again(3);
await hp.approvals.cancel(await ask(4), { ...ANN, reason: "not needed" });
const revoked = await ask(5);
await hp.approvals.approve(revoked, ANN);
await hp.approvals.revoke(revoked, { ...ANN, reason: "wait" });
await again(5);
await hp.approvals.extend(await ask(6), { ...ANN, byMs: 60_000 }).catch(() => undefined);

await hp.pause({ ...ANN, reason: "a drill" });
await plain({ n: 9 }, { requestId: "held" });
await hp.resume({ ...ANN, reason: "over" });
await plain({ n: 9 }, { requestId: "held" });

const child = hp.workflow("child", async (ctx) => ctx.step("one", () => 1));
const whole = hp.workflow("whole", { attempts: 3 }, async (ctx, input: { n: number }) => {
  ctx.log("begun", { n: input.n });
  ctx.random();
  await ctx.step("think", { retries: { attempts: 2, backOffMs: 1 } }, ({ attempt }) => {
    if (attempt === 1) throw new Error("once more");
    return 1;
  });
  await ctx.step("never", () => Promise.reject(new Error("never"))).catch(() => undefined);
  await ctx.checkpoint("Start", { outputs: { n: input.n } });
  await ctx.call(asked, { n: 100 + ctx.attempt });
  await ctx.sleep(5);
  await ctx.spawn(child, {});
  const { answered } = await ctx.ask("why", "Why?");
  await ctx.checkpoint("End");
  return answered;
});
const { id, result } = await whole.start({ n: 7 }, { requestId: "whole" });
let isSentBack = false;
const deciding = setInterval(async () => {
  for (const { id: approval, tool } of (await hp.approvals.list()).items) {
    const isEnd = tool === "End" && !isSentBack;
    isSentBack ||= isEnd;
    const said = isEnd
      ? hp.approvals.reject(approval, { ...ANN, reason: "once more" })
      : hp.approvals.approve(approval, ANN);
    await said.catch(() => undefined);
  }
}, 50);
await result();
clearInterval(deciding);
await hp.workflows.fork(id, { at: "Start" }).catch(() => undefined);

let text = "";
for await (const line of hp.journal.export()) text += line.endsWith("\n") ? line : `${line}\n`;
writeFileSync(file, text);
await hp.close();
rmSync(folder, { recursive: true, force: true });
