/** Addresses by which somebody might have a request sent to where they cannot reach themselves. A canary listens there. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { after, before, describe, test } from "node:test";
import { kindOfAddress, postSafely, type SafeAnswer } from "../../src/notify/post.ts";

import { startReceiver } from "./receiver.ts";

const canaries: Server[] = [];
let port = 0;
let hits = 0;

async function listen(host: string): Promise<void> {
  const server = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  server.listen(port, host);
  await once(server, "listening");
  canaries.push(server);
  port = (server.address() as { port: number }).port;
}

before(async () => {
  await listen("127.0.0.1");
  await listen("127.0.0.2");
  await listen("::1").catch(() => undefined);
});
after(() => {
  for (const server of canaries) server.close();
});

const SENT = { headers: {}, body: "{}", timeoutMs: 2_000, allowPrivate: false };

/** Names that only this test knows. */
const NAMES: { readonly [name: string]: readonly string[] } = {
  "internal.example": ["127.0.0.1"],
  "mixed.example": ["93.184.216.34", "127.0.0.1"],
  "mixed6.example": ["2606:4700::1", "::1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "metadata.example": ["169.254.169.254"],
  "zone.example": ["fe80::1%lo"],
  "ten.example": ["10.0.0.1"],
  "cgnat.example": ["100.64.0.1"],
  "ula.example": ["fd00::1"],
  "nowhere.example": [],
  "odd.example": ["127.1"],
  "broken.example": ["not an address"],
};
const resolve = async (name: string): Promise<readonly string[]> =>
  NAMES[name.replace(/\.$/, "")] ?? Promise.reject(new Error(name));

/** Hosts as they are typed. `P` stands for the canary's port. */
const HOSTS = [
  "127.0.0.1:P",
  "127.0.0.2:P",
  "127.1:P",
  "127.0.1:P",
  "127.255.255.254:P",
  "2130706433:P",
  "0x7f000001:P",
  "0x7f.0.0.1:P",
  "0x7f.0x0.0x0.0x1:P",
  "0177.0.0.1:P",
  "0177.0.0.01:P",
  "017700000001:P",
  "00000177.0.0.1:P",
  "127.0.0.1.:P",
  "127.0.0.0x1:P",
  "0:P",
  "0.0.0.0:P",
  "0x0:P",
  "00:P",
  "1:P",
  "%31%32%37.0.0.1:P",
  "127%2e0%2e0%2e1:P",
  "①②⑦.⓪.⓪.①:P",
  "１２７.０.０.１:P",
  "127。0。0。1:P",
  "127．0．0．1:P",
  "[::1]:P",
  "[::]:P",
  "[0:0:0:0:0:0:0:1]:P",
  "[0000::0001]:P",
  "[::ffff:127.0.0.1]:P",
  "[::ffff:7f00:1]:P",
  "[::FFFF:127.0.0.1]:P",
  "[0:0:0:0:0:ffff:127.0.0.1]:P",
  "[::127.0.0.1]:P",
  "[::7f00:1]:P",
  "[::ffff:0:127.0.0.1]:P",
  "[64:ff9b::127.0.0.1]:P",
  "[64:ff9b::7f00:1]:P",
  "[64:ff9b:1::7f00:1]:P",
  "[2002:7f00:1::]:P",
  "[2002:7f00:0001::1]:P",
  "[2001:0:7f00:1::]:P",
  "[2001:db8::1]:P",
  "[fe80::1]:P",
  "[febf::1]:P",
  "[fec0::1]:P",
  "[fc00::1]:P",
  "[fdff::1]:P",
  "[ff02::1]:P",
  "[100::1]:P",
  "[5f00::1]:P",
  "[3fff::1]:P",
  "[4000::1]:P",
  "10.0.0.1:P",
  "10.255.255.255:P",
  "172.16.0.1:P",
  "172.31.255.255:P",
  "192.168.0.1:P",
  "192.168.1.1:P",
  "169.254.169.254",
  "169.254.169.254:P",
  "169.254.170.2:P",
  "100.64.0.1:P",
  "100.100.100.200:P",
  "198.18.0.1:P",
  "192.0.0.192:P",
  "192.0.2.1:P",
  "198.51.100.1:P",
  "203.0.113.1:P",
  "192.88.99.1:P",
  "224.0.0.1:P",
  "239.255.255.250:P",
  "240.0.0.1:P",
  "255.255.255.255:P",
  "2852039166:P",
  "0xa9fea9fe:P",
  "0251.0376.0251.0376:P",
  "localhost:P",
  "LOCALHOST:P",
  "localhost.:P",
  "ⓛocalhost:P",
  ...Object.keys(NAMES).map((name) => `${name}:P`),
  "internal.example.:P",
  "INTERNAL.example:P",
];
const WHOLE = [
  "https://user@127.0.0.1:P/",
  "https://user:pass@internal.example:P/",
  "https://public.example@127.0.0.1:P/",
  "https://public.example:443@127.0.0.1:P/",
  "https:\\\\127.0.0.1:P\\",
  "https:/\\127.0.0.1:P",
  "https:127.0.0.1:P",
  "https:///127.0.0.1:P/",
  " https://127.0.0.1:P/",
  "https://127.0.0.1:P#@public.example/",
  "https://127.0.0.1:P?@public.example/",
  "https://127.0.0.1\t:P/",
  "https://127.0.0.1\n:P/",
  "ht\ntps://127.0.0.1:P/",
  "//127.0.0.1:P/",
  "127.0.0.1:P",
  "file:///etc/passwd",
  "ftp://127.0.0.1:P/",
  "gopher://127.0.0.1:P/_x",
  "data:text/plain,x",
  "javascript:alert(1)",
  "ws://127.0.0.1:P/",
  "wss://127.0.0.1:P/",
  "unix:/var/run/docker.sock",
  "http+unix://%2fvar%2frun%2fdocker.sock/",
  "blob:https://127.0.0.1:P/x",
  "http://public.example/",
  "",
  "https://",
  "https://:P/",
  "https://[::1:P/",
  "https://127.0.0.1:99999/",
];

const payloads = [...HOSTS.flatMap((host) => [`https://${host}/`, `http://${host}/`]), ...WHOLE];
const typed = (payload: string): string => payload.replaceAll("P", String(port));

test(`none of ${payloads.length} ways to write a private address reaches it`, async () => {
  assert.ok(payloads.length >= 200);
  const reached: string[] = [];
  for (const payload of payloads) {
    const url = typed(payload);
    const isOwn = Object.keys(NAMES).some((name) => url.toLowerCase().includes(name));
    const names = isOwn ? { resolve } : {};
    const answer: SafeAnswer = await postSafely({ ...SENT, ...names, url });
    if (answer.kind !== "refused") reached.push(`${payload}: ${JSON.stringify(answer)}`);
  }
  assert.deepEqual(reached, []);
  assert.equal(hits, 0, "the canary was reached");
});

describe("where private addresses are allowed", () => {
  const open = { ...SENT, allowPrivate: true };

  test("http goes to this machine only, and link-local, mapped and multicast addresses stay closed", async () => {
    for (const url of [
      "http://10.0.0.1:P/",
      "http://192.168.1.1:P/",
      "https://169.254.169.254/",
      "https://[fe80::1]:P/",
      "https://[::ffff:127.0.0.1]:P/",
      "https://[64:ff9b::7f00:1]:P/",
      "https://224.0.0.1:P/",
      "https://0.0.0.0:P/",
      "http://metadata.example:P/",
      "http://mixed.example:P/",
    ]) {
      const answer = await postSafely({ ...open, resolve, url: typed(url) });
      assert.equal(answer.kind, "refused", url);
    }
    assert.equal(hits, 0);
  });

  test("a name is looked up once, and the connection goes to what it was then", async (context) => {
    const receiver = await startReceiver(context, 0);
    const canary = createServer((socket) => {
      hits++;
      socket.destroy();
    }).listen(receiver.port, "127.0.0.2");
    await once(canary, "listening");
    context.after(() => void canary.close());
    let asked = 0;
    const rebinding = async () => (++asked === 1 ? ["127.0.0.1"] : ["127.0.0.2"]);
    const url = `http://rebinding.example:${receiver.port}/`;
    const answer = await postSafely({ ...open, resolve: rebinding, url });
    assert.deepEqual(answer, { kind: "answered", status: 204 });
    assert.equal(asked, 1);
    assert.equal(receiver.got[0]?.headers.host, `rebinding.example:${receiver.port}`);
    assert.equal(hits, 0);
  });

  test("a redirect to elsewhere is an answer, and is not followed", async (context) => {
    const receiver = await startReceiver(context);
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answer = () => status;
      assert.deepEqual(await postSafely({ ...open, url: receiver.url }), { kind: "answered", status });
    }
    assert.deepEqual(new Set(receiver.got.map(({ path }) => path)), new Set(["/"]));
  });

  test("what is answered is never told, nor read to its end", async (context) => {
    const endless = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
      const timer = setInterval(() => socket.write("secret ".repeat(1_000)), 1);
      socket.on("close", () => {
        clearInterval(timer);
        ended.resolve();
      });
    });
    const ended = Promise.withResolvers<void>();
    endless.listen(0, "127.0.0.1");
    await once(endless, "listening");
    context.after(() => void endless.close());
    const url = `http://127.0.0.1:${(endless.address() as { port: number }).port}/`;
    assert.deepEqual(await postSafely({ ...open, url }), { kind: "answered", status: 200 });
    await ended.promise;
  });

  test("one that does not answer in time is given up", async (context) => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    context.after(() => void silent.close());
    const url = `http://127.0.0.1:${(silent.address() as { port: number }).port}/`;
    assert.deepEqual(await postSafely({ ...open, timeoutMs: 100, url }), {
      kind: "failed",
      problem: "timed_out",
    });
    const never = () => new Promise<readonly string[]>(() => undefined);
    const lost = await postSafely({ ...open, timeoutMs: 100, resolve: never, url: "https://lost.example/" });
    assert.deepEqual(lost, { kind: "refused", problem: "name_not_found" });
  });

  test("a certificate that is not the name's is not believed", async (context) => {
    const plain = createServer((socket) => socket.end("this is not TLS")).listen(0, "127.0.0.1");
    await once(plain, "listening");
    context.after(() => void plain.close());
    const url = `https://127.0.0.1:${(plain.address() as { port: number }).port}/`;
    const answer = await postSafely({ ...open, url });
    assert.equal(answer.kind, "failed");
  });
});

test("an address is public only if it is known to be", () => {
  for (const address of ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450::1"])
    assert.equal(kindOfAddress(address), "public", address);
  for (const address of ["127.0.0.1", "::1"]) assert.equal(kindOfAddress(address), "loopback", address);
  for (const address of ["10.1.2.3", "172.20.0.1", "192.168.0.9", "100.127.0.1", "fd12::1"])
    assert.equal(kindOfAddress(address), "private", address);
  for (const address of [
    "",
    "localhost",
    "169.254.1.1",
    "::",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
    "fe80::1%eth0",
    "1.2.3",
  ])
    assert.equal(kindOfAddress(address), "refused", address);
});
