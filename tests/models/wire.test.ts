/** Models over the real protocols, against a server on loopback that plays them. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import type { ModelAnswer, ModelFailure, ModelRequest } from "../../src/supervise/models/model.ts";
import { openModel, retryAfterMs } from "../../src/supervise/models/open-model.ts";

import { type Line, openWire, type Wire } from "./wire/server.ts";

const KEY = "sk-test-1234567890abcdef";

async function wire(context: TestContext, ...lines: readonly Line[]): Promise<Wire> {
  const opened = await openWire(...lines);
  context.after(() => opened.close());
  return opened;
}

const nothing = (): undefined => undefined;

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: "Return JSON.",
  prompt: '{"goal":"none"}',
  format: "json",
  signal: new AbortController().signal,
  ...more,
});

type Choice = (url: string) => unknown;

/** By address, by a provider's instance, by a name with its key. */
const CHOICES: { readonly [name: string]: { readonly choice: Choice; readonly path: string } } = {
  "an address": { choice: (baseUrl) => ({ baseUrl, model: "m", apiKey: KEY }), path: "/v1/chat/completions" },
  "an address, streamed": {
    choice: (baseUrl) => ({ baseUrl, model: "m", apiKey: KEY, stream: true }),
    path: "/v1/chat/completions",
  },
  "OpenAI's responses": {
    choice: (baseURL) => createOpenAI({ baseURL, apiKey: KEY })("gpt-4.1-mini"),
    path: "/v1/responses",
  },
  "OpenAI's chat": {
    choice: (baseURL) => createOpenAI({ baseURL, apiKey: KEY }).chat("gpt-4.1-mini"),
    path: "/v1/chat/completions",
  },
  "OpenAI's responses, streamed": {
    choice: (baseURL) => ({ model: createOpenAI({ baseURL, apiKey: KEY })("gpt-4.1-mini"), stream: true }),
    path: "/v1/responses",
  },
  "Anthropic's messages, streamed": {
    choice: (baseURL) => ({
      model: createAnthropic({ baseURL, apiKey: KEY })("claude-sonnet-4-5"),
      stream: true,
    }),
    path: "/v1/messages",
  },
  "Anthropic's messages": {
    choice: (baseURL) => createAnthropic({ baseURL, apiKey: KEY })("claude-sonnet-4-5"),
    path: "/v1/messages",
  },
};

const TEXT = '{"kind":"final","answer":"grüß dich, 東京 🙂"}';

for (const [name, { choice, path }] of Object.entries(CHOICES))
  describe(`a model by ${name}`, () => {
    const ask = async (url: string): Promise<ModelAnswer | ModelFailure> =>
      (await openModel(choice(url), nothing)).propose(request());

    test("says its text, its tokens and who it was", async (context) => {
      const { url, heard } = await wire(context, { say: TEXT });
      const said = await ask(url);
      assert.ok("text" in said, JSON.stringify(said));
      assert.equal(said.text, TEXT);
      assert.partialDeepStrictEqual(said.tokens, { input: 120, output: 30 });
      assert.match(said.model ?? "", /-2026$/);
      assert.equal(said.finish, "stop");
      assert.equal(heard[0]?.path, path);
    });

    test("that is overloaded is asked once, and says when to come back", async (context) => {
      for (const status of [429, 503, 529, 500]) {
        const { url, heard } = await wire(context, { status, headers: { "retry-after": "7" } });
        assert.partialDeepStrictEqual(await ask(url), { failure: "overloaded", retryAfterMs: 7_000 });
        assert.equal(heard.length, 1);
      }
    });

    test("that refuses the request says why, without the key", async (context) => {
      const message = `Incorrect API key provided: ${KEY}`;
      const { url } = await wire(context, { status: 401, message });
      const said = await ask(url);
      assert.ok("failure" in said);
      assert.equal(said.failure, "refused");
      assert.ok(!said.message.includes("1234567890"), said.message);
    });

    test("whose connection breaks is out of reach", async (context) => {
      for (const fault of ["drop", "cut"] as const) {
        const { url } = await wire(context, { fault });
        const said = await ask(url);
        assert.ok("failure" in said && said.failure === "unreachable", `${fault}: ${JSON.stringify(said)}`);
      }
    });

    if (name.endsWith("streamed"))
      test("whose stream ends in the middle, in good order, is out of reach too", async (context) => {
        const { url } = await wire(context, { fault: "short" });
        assert.partialDeepStrictEqual(await ask(url), { failure: "unreachable" });
      });

    test("that nobody answers for is out of reach", async () => {
      const gone = await openWire();
      await gone.close();
      assert.partialDeepStrictEqual(await ask(gone.url), { failure: "unreachable" });
    });

    test("that says something else than its protocol has failed", async (context) => {
      const { url } = await wire(context, { fault: "garbage" });
      const said = await ask(url);
      assert.ok("failure" in said, JSON.stringify(said));
    });

    test("that never answers ends with the signal", async (context) => {
      const { url, heard } = await wire(context, { fault: "hang" });
      const over = new AbortController();
      const model = await openModel(choice(url), nothing);
      const said = model.propose(request({ signal: over.signal }));
      while (heard.length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      over.abort();
      assert.partialDeepStrictEqual(await said, { failure: "timeout" });
    });
  });

describe("what is sent", () => {
  test("asks for JSON where the protocol knows how, and for plain text otherwise", async (context) => {
    const { url, heard } = await wire(context, { say: "{}" });
    const chat = await openModel({ baseUrl: url, model: "m" }, nothing);
    await chat.propose(request());
    await chat.propose(request({ format: "text" }));
    const responses = await openModel(createOpenAI({ baseURL: url, apiKey: KEY })("gpt-4.1-mini"), nothing);
    await responses.propose(request());
    assert.deepEqual(heard[0]?.body["response_format"], { type: "json_object" });
    assert.equal(heard[1]?.body["response_format"], undefined);
    assert.deepEqual(heard[2]?.body["text"], { format: { type: "json_object" } });
  });

  test("has the key in its header and nowhere else; without one there is none", async (context) => {
    const { url, heard } = await wire(context, { say: "{}" });
    await (await openModel({ baseUrl: url, model: "m", apiKey: KEY }, nothing)).propose(request());
    await (await openModel({ baseUrl: url, model: "m" }, nothing)).propose(request());
    assert.equal(heard[0]?.headers.authorization, `Bearer ${KEY}`);
    assert.ok(!JSON.stringify(heard[0]?.body).includes(KEY));
    assert.equal(heard[1]?.headers.authorization, undefined);
  });
});

describe("a model's name", () => {
  const env = (values: Readonly<Record<string, string>>) => (name: string) => values[name];

  test("leads to the provider, with its key and time-out out of the environment", async (context) => {
    const { url, heard } = await wire(context, { say: "{}" });
    const openai = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url, OPENAI_TIMEOUT_SECONDS: "3" };
    const named = await openModel("openai/gpt-x", env(openai));
    assert.equal(named.id, "openai/gpt-x");
    assert.equal(named.timeoutMs, 3_000);
    assert.equal((await openModel("openai", env({ ...openai, OPENAI_MODEL: "gpt-y" }))).id, "openai/gpt-y");
    assert.equal((await openModel("openai", env(openai))).id, "openai/gpt-4.1-mini");
    await named.propose(request());
    assert.equal(heard[0]?.body["model"], "gpt-x");
    const anthropic = env({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url });
    await (await openModel("anthropic/claude-sonnet-4-5", anthropic)).propose(request());
    assert.equal(heard[1]?.headers["x-api-key"], KEY);
  });

  test("without its key is an error that names the variable", async () => {
    await assert.rejects(openModel("openai/gpt-x", nothing), {
      code: "secret_missing",
      message: /OPENAI_API_KEY/,
    });
    await assert.rejects(openModel("anthropic/c", nothing), {
      code: "secret_missing",
      message: /ANTHROPIC_API_KEY/,
    });
  });

  test("that is none, and an address with a misspelt field, are said to be wrong", async () => {
    const wrong = ["gpt-4", "gemini/x", "anthropic", "", 7, null, {}, { baseUrl: "ftp://x", model: "m" }];
    const more = [
      { baseUrl: "http://x", model: "" },
      { baseUrl: "http://x", model: "m", key: "k" },
    ];
    for (const given of [...wrong, ...more])
      await assert.rejects(openModel(given, nothing), { code: "invalid_input" }, JSON.stringify(given));
  });
});

test("retry-after is read as seconds, as milliseconds and as a date, and never for more than an hour", () => {
  assert.equal(retryAfterMs({ "retry-after": "2" }), 2_000);
  assert.equal(retryAfterMs({ "retry-after-ms": "250", "retry-after": "9" }), 250);
  const now = Date.parse("2026-03-01T00:00:00Z");
  assert.equal(retryAfterMs({ "retry-after": "Sun, 01 Mar 2026 00:00:30 GMT" }, now), 30_000);
  assert.equal(retryAfterMs({ "retry-after": "999999" }), 3_600_000);
  assert.equal(retryAfterMs({ "retry-after": "soon" }), undefined);
  assert.equal(retryAfterMs({}), undefined);
});
