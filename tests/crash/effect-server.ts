/**
 * The outside world, in a process of its own that nobody kills: it appends every request that may change something to a
 * log and syncs that before it answers, so that its log says what really happened, whatever became of whoever asked.
 *
 * `ignores` applies every request. `honours` applies a key once and answers the first result ever after. `forgets` does so
 * for two seconds. `drops` applies and closes the connection without a word.
 */
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import type { Json } from "../../src/kernel/json.ts";

import { isRefusedByReceiver, MODES, type Mode, REMEMBERED_MS, type Received } from "./effects.ts";

type Post = { readonly key: string; readonly tool: string; readonly args: Json & { readonly n: number } };

/** Longer than a keyed tool's time-out, so that some answers come too late and are asked for again. */
const SLOW_MS = 200;
const isSlow = (args: { readonly n: number }): boolean => args.n % 11 === 10;

const [file = ""] = process.argv.slice(2);
const log = openSync(file, "a");
const firsts = new Map<string, { readonly at: number; readonly result: string }>();
let results = 0;

function write(line: Received): void {
  writeSync(log, `${JSON.stringify(line)}\n`);
  fdatasyncSync(log);
}

function known(mode: Mode, key: string): { readonly result: string } | undefined {
  const first = firsts.get(`${mode} ${key}`);
  if (first === undefined || mode === "ignores" || mode === "drops") return undefined;
  return mode === "forgets" && Date.now() - first.at >= REMEMBERED_MS ? undefined : first;
}

function receive(
  mode: Mode,
  { key, tool, args }: Post,
): { readonly result: string | null; readonly first: boolean } {
  const line = { at: Date.now(), mode, tool, key, args: canonicalJson(args) };
  if (isRefusedByReceiver(args)) {
    write({ ...line, outcome: "refused" });
    return { result: null, first: false };
  }
  const before = known(mode, key);
  write({ ...line, outcome: before === undefined ? "applied" : "duplicate" });
  if (before !== undefined) return { result: before.result, first: false };
  const result = `result ${++results}`;
  firsts.set(`${mode} ${key}`, { at: line.at, result });
  return { result, first: true };
}

function post(mode: Mode, body: string, request: IncomingMessage, response: ServerResponse): void {
  const given = JSON.parse(body) as Post;
  const { result, first } = receive(mode, given);
  if (mode === "drops" && result !== null) {
    request.socket.destroy();
    return;
  }
  const status = result === null ? 422 : 200;
  const answer = () => void response.writeHead(status).end(JSON.stringify({ result }));
  if (first && mode === "honours" && isSlow(given.args)) setTimeout(answer, SLOW_MS);
  else answer();
}

/** `GET /<mode>?key=` answers how a key was applied; without a key it is something to read. */
function get(mode: Mode, key: string | null, response: ServerResponse): void {
  const first = key === null ? { result: String(results) } : firsts.get(`${mode} ${key}`);
  response.writeHead(200).end(JSON.stringify({ result: first?.result ?? null }));
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  const mode = MODES.find((one) => url.pathname === `/${one}`);
  if (mode === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (request.method === "GET") {
    get(mode, url.searchParams.get("key"), response);
    return;
  }
  let body = "";
  request.setEncoding("utf8").on("data", (part: string) => {
    body += part;
  });
  request.on("end", () => post(mode, body, request, response));
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
process.stdin.resume().on("end", () => process.exit(0));
