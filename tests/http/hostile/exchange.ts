/** Bytes on a socket, and what is answered: for requests that no client would send. */
import { connect, type Socket } from "node:net";

export type Reply = { readonly status: number; readonly type: string; readonly body: string };
/** `silent`: it was closed, or nothing came. */
export type Exchanged = Reply | "silent";

/** Whoever has not answered by then is told that nothing more comes, and then left alone. */
const PATIENCE_MS = 1_500;
const LAST_MS = 30_000;

const headerOf = (head: string, name: string): string =>
  new RegExp(`\r\n${name}: *([^\r\n]*)`, "i").exec(head)?.[1] ?? "";

/** The first answer that is whole. Interim answers are passed over; a stream's head is enough. */
export function replyOf(text: string, isClosed: boolean): Reply | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = text.slice(0, end);
  const status = Number(head.slice(9, 12));
  if (status < 200) return replyOf(text.slice(end + 4), isClosed);
  const type = headerOf(head, "content-type");
  const body = text.slice(end + 4);
  const length = headerOf(head, "content-length");
  const isWhole = isClosed || type.startsWith("text/event-stream") || body.length >= Number(length || "0");
  return isWhole ? { status, type, body: length === "" ? body : body.slice(0, Number(length)) } : undefined;
}

export type Address = { readonly port: number; readonly localAddress?: string };

export function exchange(address: Address, bytes: Buffer): Promise<Exchanged> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: "127.0.0.1", ...address });
    const timers: NodeJS.Timeout[] = [];
    // Characters are bytes: lengths are counted in them.
    socket.setEncoding("latin1");
    let text = "";
    const done = (isClosed: boolean) => {
      const reply = replyOf(text, isClosed);
      if (reply === undefined && !isClosed) return;
      for (const timer of timers) clearTimeout(timer);
      socket.destroy();
      resolve(reply ?? "silent");
    };
    socket.on("connect", () => {
      socket.write(bytes);
      timers.push(setTimeout(() => socket.end(), PATIENCE_MS));
      timers.push(setTimeout(() => done(true), PATIENCE_MS + LAST_MS));
    });
    socket.on("data", (part: string) => {
      text += part;
      done(false);
    });
    socket.on("error", () => done(true));
    socket.on("close", () => done(true));
  });
}
