/** Canary secrets, by every way in and at every depth: only the tool's function may ever see them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { NotApplied, secret } from "../../src/index.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { noticeText } from "../../src/runtime/notices.ts";
import { journalText, machine, type Process, settled } from "../fixtures/runtime.ts";
import { anyJson, runs } from "./runs.ts";

/** Hides a value inside others, so many levels down. */
function bury(value: Json, depth: number, beside: Json): Json {
  let buried = value;
  for (let level = 0; level < depth; level++)
    buried = level % 2 === 0 ? { beside, in: buried } : [beside, buried];
  return buried;
}

/** Everything that is kept or told, as one text. */
async function everything(hp: Process, answer: unknown): Promise<string> {
  const { tenant } = hp.runtime;
  const kept = hp.store as unknown as { query: Process["store"]["query"] };
  const rows = await Promise.all(
    ["approvals", "actions"].map((view) => kept.query(tenant, { view, limit: 1_000 })),
  );
  const lines: string[] = [];
  for await (const line of hp.journal.export()) lines.push(line);
  const receipt = await hp.receipts.sign("job").catch(() => undefined);
  const opened = (receipt?.receipt.split(".") ?? []).map((part) => Buffer.from(part, "base64url").toString());
  return JSON.stringify([
    await journalText(hp),
    rows,
    lines,
    opened,
    hp.notices.map(noticeText),
    JSON.stringify(hp.notices, (_key, value) => (value instanceof Error ? value.message : value)),
    answer instanceof Error ? answer.message : answer,
  ]);
}

function artifactsOf(database: ReturnType<typeof machine>["database"]): string {
  const all = [...database.data.tenants.values()].flatMap(({ artifacts }) => [...artifacts.values()]);
  return all.map((bytes) => Buffer.from(bytes).toString()).join("\n");
}

type Way = (value: string) => unknown;
/** What a tool may do with a secret that it should not. */
const LEAKS: Readonly<Record<string, Way>> = {
  returns: (value) => ({ echo: value }),
  "returns it inside a text": (value) => `token=${value};`,
  "returns it as a key": (value) => ({ [value]: 1, more: { [`x-${value}`]: [value] } }),
  "returns it as a list, deep down": (value) => bury(value, 20, null),
  "returns it encoded": (value) => [
    encodeURIComponent(value),
    JSON.stringify(value),
    Buffer.from(value).toString("base64"),
  ],
  "returns a lot of it": (value) => ({ text: `${value} `.repeat(10_000) }),
  throws: (value) => {
    throw new Error(`401 for ${value}`);
  },
  "throws a long story": (value) => {
    throw new Error("x".repeat(1_990) + value + "x".repeat(100));
  },
  "throws proof": (value) => {
    throw new NotApplied(`no such key: ${value}`);
  },
  "throws what is no error": (value) => {
    const thrown: unknown = { toString: () => value };
    throw thrown;
  },
};

const canaries = fc
  .string({ unit: fc.constantFrom(..."abcXYZ0189-_/+=\"' é😀"), minLength: 12, maxLength: 24 })
  .map((tail) => `canary${tail}`);
const scene = fc.record({
  value: canaries,
  depth: fc.integer({ min: 0, max: 20 }),
  beside: anyJson,
  leak: fc.constantFrom(...Object.keys(LEAKS)),
  effect: fc.constantFrom("once", "read", "probed", "keyed"),
  row: fc.boolean(),
});

test("a secret that goes in by arguments never comes out: journal, views, artifacts, exports, receipts, notices, answers", () =>
  fc.assert(
    fc.asyncProperty(scene, async ({ value, depth, beside, leak, effect, row }) => {
      const computer = machine();
      const hp = computer.process({ environment: { CANARY: value }, seals: true });
      const handle = row ? await hp.putSecret(value) : secret("env:CANARY");
      const way = LEAKS[leak] as Way;
      let seen = "";
      const tool = hp.gate({
        name: "tool",
        effect: effect as "once",
        attempts: 1,
        policy: "escalate",
        verify: () => ({ answer: "unknown", evidence: { saw: way(value) } }),
        run: (args: Json) => {
          seen = JSON.stringify(args);
          return way(value);
        },
      });
      const args = { payload: bury(handle as unknown as JsonObject, depth, beside) };
      const call = tool(args as never, { requestId: "job", rationale: `I use ${value}` }).catch(
        (error: unknown) => error,
      );
      await settled(3);
      const { items } = await hp.approvals.list();
      await hp.approvals.approve(items[0]?.id ?? "", { by: "person:ann", note: `yes, with ${value}` });
      await settled(5);
      await computer.clock.advance(6_000);
      const answer = await call;
      assert.ok(seen.includes(JSON.stringify(value).slice(1, -1)), "the tool got the value");
      const told = (await everything(hp, answer)) + artifactsOf(computer.database);
      for (const spelling of [
        value,
        JSON.stringify(value).slice(1, -1),
        Buffer.from(value).toString("base64"),
      ])
        assert.ok(!told.includes(spelling), `${leak} left ${spelling}`);
      assert.ok(!told.includes("canary"), `${leak} left a piece`);
      await hp.close();
    }),
    runs(120),
  ));

test("a secret's value that stands in the arguments in clear is refused, and never hides what was written", async () => {
  const hp = machine().process({ environment: { STAGE: "production" } });
  let asked = 0;
  const policy = ({ args }: { args: { stage?: unknown } }) => {
    asked++;
    return args.stage === "production" ? ("block" as const) : ("approve" as const);
  };
  const deploy = hp.gate({ name: "deploy", policy, run: () => assert.fail("it ran") });
  const hiding = { stage: "production", note: secret("env:STAGE") };
  await assert.rejects(deploy(hiding as never), { code: "secret_transformed" });
  assert.equal(asked, 0);
  assert.partialDeepStrictEqual(await deploy({ stage: "production" }), {
    status: "refused",
    code: "blocked",
  });
});

test("two secrets with one value stay two: each handle stays where it stood", async () => {
  const computer = machine();
  const hp = computer.process({ environment: { A: "same-value", B: "same-value" } });
  const tool = hp.gate({ name: "t", policy: "approve", run: () => 1 });
  const args = { a: secret("env:A"), b: secret("env:B"), list: [secret("env:B"), secret("env:A")] };
  await tool(args as never, { requestId: "t" });
  assert.deepEqual((await hp.actions.get("t")).args, args);
});

test("one secret that is the beginning of another is taken out whole", async () => {
  const hp = machine().process({ environment: { SHORT: "canary-1", LONG: "canary-1-and-more" } });
  const tool = hp.gate({
    name: "t",
    policy: "approve",
    run: (args: { long: string; short: string }) => `${args.long} ${args.short}`,
  });
  const args = { short: secret("env:SHORT"), long: secret("env:LONG") };
  const answer = await tool(args as never, { requestId: "t" });
  assert.partialDeepStrictEqual(answer, { status: "done", result: "[secret env:LONG] [secret env:SHORT]" });
});
