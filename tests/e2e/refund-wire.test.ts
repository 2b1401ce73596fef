/** The refund example with a key: it speaks a provider's own protocol, here to a server on loopback that plays the model. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { textFor } from "../../examples/demos/refund-script.ts";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { type Heard, type Line, playWire } from "../models/wire/server.ts";
import { cli, linesOf, makePlace, type Place, ROOT } from "./program.ts";

const KEY = "sk-test-1234567890abcdef";
const MAIN = join(ROOT, "examples/refund/main.ts");

/** The user's part of a request, in whatever dialect: the only text in it that begins with the goal. */
function promptIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.startsWith('{"goal":') ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.values(value)
    .map(promptIn)
    .find((found) => found !== undefined);
}

/** What the script would say, over the wire; at first it has no time. */
function line({ body }: Heard, count: number): Line {
  if (count === 1) return { status: 429, headers: { "retry-after": "0" } };
  return { say: textFor(promptIn(body) ?? "", "json") };
}

/** Runs the example to its end; the person decides when they are asked. */
async function example(place: Place, decide: (approval: string) => void): Promise<SuperviseResult> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN], {
    cwd: place.folder,
    env: place.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let told = "";
  child.stderr.on("data", (bytes: Buffer) => {
    const before = told;
    told += bytes.toString();
    const asked = /approve (apr_[0-9A-Z]{26})/.exec(told)?.[1];
    if (asked !== undefined && !before.includes(asked)) decide(asked);
  });
  const out = await text(child.stdout);
  assert.notEqual(out, "", told);
  return JSON.parse(out) as SuperviseResult;
}

function holdsKey(folder: string): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(KEY));
}

const PROVIDERS = [
  ["OPENAI", "/v1/responses", /^gpt-4\.1-mini$/],
  ["ANTHROPIC", "/v1/messages", /^claude-/],
] as const;

describe("examples/refund", () => {
  for (const [provider, path, model] of PROVIDERS)
    test(`with ${provider}_API_KEY: 1200 USD asked, a person makes it 800`, async () => {
      const made = makePlace();
      const wire = await playWire(line);
      const keys = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", OPENAI_MODEL: undefined };
      const service = { [`${provider}_API_KEY`]: KEY, [`${provider}_BASE_URL`]: wire.url };
      const place = { ...made, env: { ...made.env, ...keys, ...service } };
      try {
        const result = await example(place, (approval) => {
          const ran = cli(place, "approve", approval, "--edit", '{"amount_usd":800}');
          assert.equal(ran.code, 0, ran.err);
        });
        assert.equal(result.stop_reason, "success");
        assert.equal(result.trace[0]?.args_hash, "feaa769a39ae");
        assert.partialDeepStrictEqual(result.trace[1], {
          executed_from: "human_revised",
          human_approved: true,
        });
        assert.match(result.answer ?? "", /800 USD\. A person had to approve it/);
        assert.equal(linesOf(place, "outside.log").length, 2);
        assert.ok(
          wire.heard.every((heard) => heard.path === path && model.test(String(heard.body["model"]))),
        );
        assert.equal(wire.heard.length, 5);
        assert.ok(result.tokens.output > 0);
        assert.ok(!holdsKey(place.folder));
      } finally {
        await wire.close();
        made.remove();
      }
    });
});
