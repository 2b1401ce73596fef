/** How a tool talks to the effect server. */
import { Agent, request } from "node:http";
import type { Json } from "../../src/kernel/json.ts";
import type { Mode } from "./effects.ts";

export type Reply = { readonly status: number; readonly result: string | null };
export type Receiver = {
  /** `written` is called when the request has left this process and nothing came back yet. */
  post(mode: Mode, body: Json, options: { signal: AbortSignal; written: () => void }): Promise<Reply>;
  get(mode: Mode, key: string | null): Promise<Reply>;
};

type Asked = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly written?: () => void;
};

export function createReceiver(port: number): Receiver {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const ask = ({ method, path, body, signal, written }: Asked): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const options = {
        host: "127.0.0.1",
        port,
        method,
        path,
        agent,
        ...(signal === undefined ? {} : { signal }),
      };
      const call = request(options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("error", reject);
        response.on("end", () => {
          const { result } = JSON.parse(text) as { result: string | null };
          resolve({ status: response.statusCode ?? 0, result });
        });
      });
      call.on("error", reject);
      if (written !== undefined) call.on("finish", written);
      call.end(body);
    });
  return {
    post: (mode, body, options) =>
      ask({ method: "POST", path: `/${mode}`, body: JSON.stringify(body), ...options }),
    get: (mode, key) =>
      ask({ method: "GET", path: key === null ? `/${mode}` : `/${mode}?key=${encodeURIComponent(key)}` }),
  };
}
