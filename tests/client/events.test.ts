import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type JournalEvent } from "../../src/client/client.ts";
import { createEventParser, type SentEvent } from "../../src/client/events.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { serverBench } from "../fixtures/server.ts";

const none = () => undefined;

test("events are read whole however the bytes are cut, with every end of line", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = [
      "retry: 10",
      "id: 1",
      "event: a",
      "data: {",
      "data:  }",
      "",
      ":",
      "id: 2",
      "",
      ": x",
      "",
      "",
    ].join(end);
    for (let size = 1; size < 12; size++) {
      const retries: number[] = [];
      const parse = createEventParser((ms) => void retries.push(ms));
      const events: SentEvent[] = [];
      for (let at = 0; at < text.length; at += size) events.push(...parse(text.slice(at, at + size)));
      // The last end of line may be half of one.
      events.push(...parse("x"));
      assert.deepEqual(events, [
        { id: "1", type: "a", data: "{\n }" },
        { id: "2", type: "message", data: "" },
      ]);
      assert.deepEqual(retries, [10]);
    }
  }
});

const limit = (n: number) => ({ limit: { currency: "USD", micros: String(n) }, by: "ann" });

/** Reads so many, then stops. */
async function take(events: AsyncGenerator<JournalEvent>, count: number): Promise<readonly JournalEvent[]> {
  const taken: JournalEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) return taken;
  }
  return taken;
}

/** Cuts every answer after so many bytes, in the middle of whatever is there. */
function cutting(bytes: number): { fetch: typeof fetch; opened: () => number } {
  let opened = 0;
  const cut: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes("/api/events") || response.body === null) return response;
    let left = bytes + 37 * opened++;
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          controller.enqueue(chunk.slice(0, left));
          left -= chunk.length;
          if (left <= 0) controller.error(new TypeError("cut"));
        },
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  };
  return { fetch: cut, opened: () => opened };
}

test("over connections that break within an event, every entry comes once and in order", async (t) => {
  const { url } = await serverBench(t);
  const writer = createClient({ server: url });
  const { fetch, opened } = cutting(700);
  const client = createClient({ server: url, fetch, pause: async () => undefined });
  let ready: () => void = none;
  const open = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const heard = take(client.events({ streams: ["budget"], onOpen: ready }), 40);
  await open;
  for (let n = 1; n <= 40; n++) await writer.budgets.limit(`b${n}`, limit(n));
  assert.deepEqual(
    (await heard).map(({ stream }) => stream),
    Array.from({ length: 40 }, (_, at) => `budget/b${at + 1}`),
  );
  assert.ok(opened() > 5, `${opened()} connections`);
});

test("events go on over a server that is closed and started again, and over a client that is", async (t) => {
  const { path: folder } = temporaryFolder(t);
  const first = await serverBench(t, { folder });
  const port = first.port;
  const client = createClient({ server: first.url });
  let ready: (position: number) => void = none;
  const open = new Promise<number>((resolve) => {
    ready = resolve;
  });
  const heard = take(client.events({ streams: ["budget"], onOpen: ready }), 4);
  const start = await open;
  for (const n of [1, 2]) await client.budgets.limit(`b${n}`, limit(n));
  await first.close();
  const second = await serverBench(t, { folder, port });
  for (const n of [3, 4]) await client.budgets.limit(`b${n}`, limit(n));
  const all = ["budget/b1", "budget/b2", "budget/b3", "budget/b4"];
  assert.deepEqual(
    (await heard).map(({ stream }) => stream),
    all,
  );
  // Another process of the program, which only knows where it began.
  const again = createClient({ server: second.url });
  const replayed = await take(again.events({ streams: ["budget"], after: start }), 4);
  assert.deepEqual(
    replayed.map(({ stream }) => stream),
    all,
  );
});

test("whoever is ahead of the journal is told, and a signal ends the listening", async (t) => {
  const { url } = await serverBench(t);
  const client = createClient({ server: url });
  await assert.rejects(take(client.events({ after: 1_000_000 }), 1), { code: "wrong_state" });
  const over = new AbortController();
  const heard = take(client.events({ onOpen: () => over.abort() }, over.signal), 1_000_000);
  await heard;
});

test("an agent is handed its intents over broken connections, again until it acknowledges them", async (t) => {
  const { url } = await serverBench(t);
  const sender = createClient({ server: url });
  const intent = { intent_type: "look", to_agent: "agent:b", from: "agent:a" };
  const { intent_id } = await sender.intents.send(intent);
  let cuts = 0;
  const once: typeof fetch = async (input, init) => {
    if (String(input).includes("/stream") && cuts++ < 2) throw new TypeError("cut");
    return fetch(input, init);
  };
  const client = createClient({ server: url, fetch: once, pause: async () => undefined });
  for (const _listening of [1, 2])
    for await (const handed of client.listen({ agent: "agent:b" })) {
      assert.equal(handed.intent_id, intent_id);
      break;
    }
  assert.equal(cuts, 4);
  await client.intents.acknowledge(intent_id, { by: "agent:b" });
  const over = new AbortController();
  const listening = (async () => {
    for await (const { intent_id: id } of client.listen({ agent: "agent:b" }, over.signal)) return id;
    return undefined;
  })();
  const { intent_id: next } = await sender.intents.send(intent);
  assert.equal(await listening, next);
  over.abort();
});
