/** A server on loopback that plays scripted turns in the providers' own protocols, whole or piece by piece. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Dialect, errorBody, streamOf, wholeOf } from "./dialects.ts";

export type Fault = "hang" | "drop" | "cut" | "short" | "garbage";

export type Line =
  /** Text that the model says. */
  | { readonly say: string; readonly finish?: "stop" | "length" }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
    }
  /** Takes the request and says nothing, hangs up, does so in the middle, ends in the middle, or says something else. */
  | { readonly fault: Fault };

export type Heard = {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly [field: string]: unknown };
};

export type Wire = {
  /** Ends with `/v1`. */
  readonly url: string;
  readonly heard: readonly Heard[];
  close(): Promise<void>;
};

function dialectOf(path: string): Dialect {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "messages";
  throw new TypeError(`nobody asks for ${path}`);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

function fail(response: ServerResponse, fault: Fault): void {
  if (fault === "hang") return;
  if (fault === "drop") {
    response.socket?.destroy();
    return;
  }
  response.writeHead(200, {
    "content-type": "application/json",
    ...(fault === "cut" ? { "content-length": "900" } : {}),
  });
  if (fault === "garbage") {
    response.end("<html>not what you think</html>");
    return;
  }
  response.write('{"id":"half', () => response.socket?.destroy());
}

/** Breaks off in the middle of what it says. */
function cutStream(dialect: Dialect, response: ServerResponse, isOrderly: boolean): void {
  const whole = streamOf(dialect, {
    text: '{"kind":"final","answer":"never to its end"}',
    finish: "stop",
    model: "m",
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  const half = whole.slice(0, whole.lastIndexOf("\n\n", whole.length / 2) + 2);
  if (isOrderly) response.end(half);
  else response.write(half, () => setTimeout(() => response.socket?.destroy(), 20));
}

function play(line: Line, heard: Heard, response: ServerResponse): void {
  const dialect = dialectOf(heard.path);
  if ("fault" in line) {
    const isCut = line.fault === "cut" || line.fault === "short";
    if (isCut && heard.body["stream"] === true) cutStream(dialect, response, line.fault === "short");
    else fail(response, line.fault);
    return;
  }
  if ("status" in line) {
    response.writeHead(line.status, { "content-type": "application/json", ...line.headers });
    response.end(JSON.stringify(errorBody(dialect, line.message ?? "no")));
    return;
  }
  const said = { text: line.say, finish: line.finish ?? "stop", model: String(heard.body["model"]) };
  if (heard.body["stream"] === true) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(streamOf(dialect, said));
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(wholeOf(dialect, said)));
}

function closing(server: Server): () => Promise<void> {
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

/** One line for each request; after the last one, the last one again. */
const inTurn =
  (lines: readonly Line[]) =>
  (_: Heard, count: number): Line | undefined =>
    lines[count - 1] ?? lines.at(-1);

export const openWire = (...lines: readonly Line[]): Promise<Wire> => playWire(inTurn(lines));

/** What it says may depend on what it is asked. */
export async function playWire(say: (heard: Heard, count: number) => Line | undefined): Promise<Wire> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const one = { path: request.url ?? "", headers: request.headers, body: JSON.parse(text) };
      heard.push(one);
      const line = say(one, heard.length);
      if (line !== undefined) play(line, one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, heard, close: closing(server) };
}
