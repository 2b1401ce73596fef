/** Requests over connections that stay open, with as little of its own as can be: what is measured is the server. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type Reply = { readonly status: number; readonly body: Buffer };
export type Connection = {
  /** One at a time. */
  post(path: string, body: string): Promise<Reply>;
  close(): void;
};

const HEAD_END = Buffer.from("\r\n\r\n");

/** The first whole answer in these bytes, and where it ends. Every answer of these servers says its length. */
export function readReply(bytes: Buffer): { readonly reply: Reply; readonly end: number } | undefined {
  const head = bytes.indexOf(HEAD_END);
  if (head === -1) return undefined;
  const text = bytes.toString("latin1", 0, head);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]);
  if (!Number.isInteger(length)) throw new Error(`an answer without a length:\n${text}`);
  const end = head + HEAD_END.length + length;
  if (bytes.length < end) return undefined;
  return { reply: { status: Number(text.slice(9, 12)), body: bytes.subarray(end - length, end) }, end };
}

type Waiting = PromiseWithResolvers<Reply>;

function listen(socket: Socket, waiting: () => Waiting | undefined): void {
  let bytes: Buffer = Buffer.alloc(0);
  socket.on("data", (part: Buffer) => {
    bytes = bytes.length === 0 ? part : Buffer.concat([bytes, part]);
    const read = readReply(bytes);
    if (read === undefined) return;
    bytes = bytes.subarray(read.end);
    waiting()?.resolve(read.reply);
  });
  const fail = (error?: Error) => waiting()?.reject(error ?? new Error("the server closed the connection"));
  socket.on("error", fail);
  socket.on("close", () => fail());
}

/** `headers` go with every request, each with its line end. */
export async function openConnection(port: number, headers = ""): Promise<Connection> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await once(socket, "connect");
  let waiting: Waiting | undefined;
  listen(socket, () => waiting);
  return {
    post(path, body) {
      waiting = Promise.withResolvers<Reply>();
      const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}${length}\r\n${body}`,
      );
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}
