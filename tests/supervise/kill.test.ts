/** A real process, killed with -9 while its run waits for a person; another one comes to the end that was to come. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { type Heard, type Line, playWire } from "../models/wire/server.ts";
import type { AgentInput } from "./programs/agent.ts";

const PROGRAM = join(import.meta.dirname, "programs/agent.ts");
const call = (name: string, args: object) => JSON.stringify({ kind: "tool", name, args });
const SCRIPT = [
  call("get_refund_context", { user_id: 42 }),
  call("issue_refund", { user_id: 42, amount_usd: 1200 }),
  JSON.stringify({ kind: "final", answer: "800 USD came back to Anna; a person had to agree." }),
];

/** By how many steps it is shown, so that it says the same to whoever asks. */
function say({ body }: Heard): Line {
  const messages = body["messages"] as readonly { readonly role: string; readonly content: unknown }[];
  const asked = JSON.stringify(messages.find(({ role }) => role === "user")?.content);
  const steps = Number(/steps_completed\\*":(\d+)/.exec(asked)?.[1]);
  return { say: SCRIPT[steps] ?? "the script is over" };
}

type Agent = {
  readonly child: ChildProcess;
  readonly waits: Promise<void>;
  readonly result: Promise<SuperviseResult>;
};

function start(context: TestContext, input: AgentInput): Agent {
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, JSON.stringify(input)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  const waits = Promise.withResolvers<void>();
  const result = Promise.withResolvers<SuperviseResult>();
  result.promise.catch(() => undefined);
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    for (const line of text.split("\n").slice(0, -1)) {
      const said = JSON.parse(line) as { notice?: string; result?: SuperviseResult };
      if (said.notice === "waiting") waits.resolve();
      if (said.result !== undefined) result.resolve(said.result);
    }
  });
  child.on("close", () => result.reject(new Error(`it ended without a result: ${text}`)));
  return { child, waits: waits.promise, result: result.promise };
}

async function killed({ child }: Agent): Promise<void> {
  const gone = new Promise<void>((resolve) => child.on("close", () => resolve()));
  child.kill("SIGKILL");
  await gone;
}

async function exported(folder: Folder): Promise<string> {
  const lines: string[] = [];
  for await (const line of folder.open({ agent: "auditor" }).journal.export()) lines.push(line);
  return lines.join("\n");
}

describe("an agent that is killed while a person is asked", () => {
  test("goes on in another process, with the same answer", async (context) => {
    const folder = temporaryFolder(context);
    const wire = await playWire(say);
    context.after(() => wire.close());
    const world = join(folder.path, "..", "world.txt");
    const input = { folder: folder.path, keyFile: folder.keyFile, world, baseUrl: wire.url, stream: true };
    const first = start(context, input);
    await first.waits;
    await killed(first);
    const people = folder.open({ agent: "people" });
    const ann = { by: "person:ann", edit: { amount_usd: 800 }, note: "800 is enough" };
    await people.approvals.approve(await pendingApproval(people), ann);
    const result = await start(context, input).result;
    assert.equal(result.stop_reason, "success");
    assert.equal(result.answer, "800 USD came back to Anna; a person had to agree.");
    assert.equal(readFileSync(world, "utf8"), "refund 800\n");
    assert.deepEqual(
      result.trace.map(({ tool, executed_from, ok }) => `${tool} ${executed_from} ${ok}`),
      ["get_refund_context original true", "issue_refund human_revised true", "final original true"],
    );
    assert.equal(wire.heard.length, 3, "what was recorded is not asked again");
    // Asked for once more, it is the same run, and nobody is asked anything.
    assert.deepEqual(await start(context, input).result, result);
    assert.equal(wire.heard.length, 3);
    assert.ok(!(await exported(folder)).includes("never-journaled"));
    assert.equal((await people.journal.verify()).ok, true);
  });
});
