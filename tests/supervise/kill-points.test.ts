/** Real processes, killed with -9 where a supervised run is most exposed; its tool promises nothing, so a doubt is a doubt. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, type TestContext, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import type { MortalInput } from "./programs/mortal.ts";

const PROGRAM = join(import.meta.dirname, "programs/mortal.ts");
const ANN = { by: "person:ann" };
/** Shared by all of them, so that only the first has to be compiled. */
const COMPILED = mkdtempSync(join(tmpdir(), "holdpoint-compiled-"));
after(() => rmSync(COMPILED, { recursive: true, force: true }));

type Ended = { readonly signal: string | null; readonly out: string };

function live(context: TestContext, input: MortalInput): Promise<Ended> {
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, JSON.stringify(input)], {
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    out += part;
  });
  return new Promise((resolve) => child.on("close", (_code, signal) => resolve({ signal, out })));
}

/** Agrees to everything, and finds out what became of what is in doubt, until it is told to stop. */
function office(hp: Holdpoint, world: () => readonly string[]) {
  let isOpen = true;
  let doubts = 0;
  const done = (async () => {
    for (; isOpen; await new Promise<void>((resolve) => setTimeout(resolve, 20))) {
      for (const { id } of (await hp.approvals.list()).items) await hp.approvals.approve(id, ANN);
      for (const { id } of (await hp.actions.list({ phase: "in_doubt" })).items) {
        const effect = id.replace("act_", "eff_");
        const status = world().some((line) => line.endsWith(effect)) ? "applied" : "not_applied";
        await hp.actions.resolve(effect, { ...ANN, status, reason: "looked" });
        doubts++;
      }
    }
    return doubts;
  })();
  const close = () => {
    isOpen = false;
    return done;
  };
  return { close };
}

/** Where a decision comes so early that the place is not passed once more, it is tried again. */
async function killedAt(context: TestContext, point: string, time: number) {
  for (let tries = 1; tries < 6; tries++) {
    const seen = await tryToKill(context, point, time);
    if (seen !== undefined) return seen;
  }
  throw new Error(`${point} was not passed ${time} times`);
}

async function tryToKill(context: TestContext, point: string, time: number) {
  const folder = temporaryFolder(context);
  const file = join(folder.path, "..", "world.txt");
  const world = () => readFileSync(file, "utf8").split("\n");
  const people = folder.open({ agent: "people" });
  await people.budgets.limit("b", { currency: "USD", micros: 100n });
  const { close } = office(people, world);
  const { path, keyFile } = folder;
  const input = { folder: path, keyFile, world: file };
  const first = await live(context, { ...input, death: { point, time } });
  if (first.signal !== "SIGKILL") {
    await close();
    return undefined;
  }
  const { out } = await live(context, { ...input, death: null });
  const doubts = await close();
  const result = JSON.parse(out) as SuperviseResult;
  const paid = world().filter((line) => line.startsWith("paid"));
  const asked = world().filter((line) => line === "asked").length;
  const { spent, reserved } = await people.budgets.get("b");
  assert.deepEqual([spent, reserved], [10n * BigInt(paid.length), 0n]);
  assert.equal((await people.journal.verify()).ok, true);
  return { result, paid, asked, doubts };
}

describe("a supervised run whose process is killed", () => {
  test("when the model has answered and nothing is written asks it again, and does what it says then", async (t) => {
    const { result, paid, asked, doubts } = await killedAt(t, "before_fact", 1);
    assert.deepEqual([result.stop_reason, paid.length, asked, doubts], ["success", 1, 3, 0]);
    const args = result.history[0]?.executed_action;
    assert.ok(args?.kind === "tool" && paid[0]?.startsWith(`paid ${String(args.args["amount"])} `));
  });

  test("between the model's answer and the verdict holds on to the answer", async (t) => {
    const { result, paid, asked, doubts } = await killedAt(t, "after_fact", 1);
    assert.deepEqual([result.stop_reason, paid.length, asked, doubts], ["success", 1, 2, 0]);
  });

  test("between the approval and the start pays once, and asks nobody again", async (t) => {
    const { result, paid, doubts } = await killedAt(t, "before_start", 2);
    assert.deepEqual([result.stop_reason, paid.length, doubts], ["success", 1, 0]);
  });

  test("between the start and the sending pays nothing until somebody has found out", async (t) => {
    const { result, paid, doubts } = await killedAt(t, "before_send", 1);
    assert.deepEqual([result.stop_reason, paid.length, doubts], ["tool_error:pay", 0, 1]);
    assert.equal(result.trace[0]?.ok, false);
  });

  test("between the payment and its record never pays again", async (t) => {
    const { result, paid, doubts } = await killedAt(t, "before_outcome", 1);
    assert.deepEqual([result.stop_reason, paid.length, doubts], ["success", 1, 1]);
    assert.equal(result.trace[0]?.ok, true);
  });
});
