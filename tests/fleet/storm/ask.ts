/** How a client talks to the servers of a fleet: either of them, with a key, and with the patience of a client. */
import { Agent, request } from "node:http";
import type { JsonObject } from "../../../src/kernel/json.ts";
import type { Said } from "./told.ts";

export type Asking = {
  readonly server: string;
  readonly key: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: JsonObject;
};
export type Reply = { readonly said: Said; readonly status: number; readonly body: JsonObject };

const PATIENCE_MS = 5_000;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const NOTHING: Reply = { said: "unknown", status: 0, body: {} };

/** What a server could not do now, or does not know, may have been done. */
function saidBy(status: number): Said {
  if (status >= 200 && status < 300) return "yes";
  return status >= 500 || status === 429 || status === 408 ? "unknown" : "no";
}

function readBody(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}

export function ask({ server, key, method, path, body }: Asking): Promise<Reply> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    ...(text === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
  };
  return new Promise((resolve) => {
    const timer = setTimeout(() => call.destroy(), PATIENCE_MS);
    const settle = (reply: Reply) => {
      clearTimeout(timer);
      resolve(reply);
    };
    const call = request(`${server}${path}`, { method, headers, agent }, (response) => {
      let said = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        said += part;
      });
      response.on("error", () => settle(NOTHING));
      response.on("close", () => settle(NOTHING));
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        settle({ said: saidBy(status), status, body: readBody(said) });
      });
    });
    call.on("error", () => settle(NOTHING));
    call.end(text);
  });
}
