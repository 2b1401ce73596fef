/** A mail server on this machine, as small as it can be: keeps envelopes and the exact bytes of each mail. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

export type Got = { readonly from: string; readonly to: readonly string[]; readonly raw: string };

export type MailServer = {
  readonly url: string;
  readonly port: number;
  readonly got: Got[];
  /** Everything that was said by clients, line by line, without the mails. */
  readonly commands: string[];
  /** The answer to a mail, or to a receiver. */
  answer: (stage: "rcpt" | "data") => string;
  stop(): Promise<void>;
};

const TERMINATOR = "\r\n.\r\n";

function talk(socket: Socket, server: MailServer): void {
  let text = "";
  let from = "";
  let to: string[] = [];
  let isData = false;
  const say = (line: string) => void socket.write(`${line}\r\n`);
  const verbs: { readonly [verb: string]: (rest: string) => void } = {
    EHLO: () => say("250-localhost\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME"),
    HELO: () => say("250 localhost"),
    AUTH: () => say("235 yes"),
    MAIL: (rest) => {
      [from, to] = [rest, []];
      say("250 ok");
    },
    RCPT: (rest) => {
      const answer = server.answer("rcpt");
      if (answer.startsWith("250")) to.push(rest);
      say(answer);
    },
    DATA: () => {
      isData = true;
      say("354 go on");
    },
    QUIT: () => socket.end("221 bye\r\n"),
  };
  const takeMail = () => {
    const end = text.indexOf(TERMINATOR);
    if (end === -1) return false;
    server.got.push({ from, to, raw: text.slice(0, end).replaceAll("\r\n..", "\r\n.") });
    text = text.slice(end + TERMINATOR.length);
    isData = false;
    say(server.answer("data"));
    return true;
  };
  const takeLine = () => {
    const end = text.indexOf("\r\n");
    if (end === -1) return false;
    const line = text.slice(0, end);
    text = text.slice(end + 2);
    server.commands.push(line);
    (verbs[line.slice(0, 4).toUpperCase()] ?? (() => say("500 what")))(line.slice(5));
    return true;
  };
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
    while (isData ? takeMail() : takeLine());
  });
  socket.on("error", () => undefined);
  say("220 localhost");
}

export async function startMailServer(context: Pick<TestContext, "after">, port = 0): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    talk(socket, server);
  }).listen(port, "127.0.0.1");
  await once(listener, "listening");
  const own = (listener.address() as AddressInfo).port;
  const server: MailServer = {
    url: `smtp://127.0.0.1:${own}`,
    port: own,
    got: [],
    commands: [],
    answer: () => "250 ok",
    async stop() {
      for (const socket of sockets) socket.destroy();
      if (listener.listening) await new Promise((done) => listener.close(done));
    },
  };
  context.after(() => server.stop());
  return server;
}

export type ReadMail = {
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly html: string;
  readonly parts: number;
};

function headersIn(block: string): Map<string, string> {
  const lines = block.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  return new Map(
    lines.map((line) => [
      line.split(":", 1)[0]?.toLowerCase() ?? "",
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
}

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding !== "quoted-printable") return Buffer.from(body, "latin1").toString("utf8");
  const joined = body.replaceAll(/=\r\n/g, "");
  const bytes = joined.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** By hand, so that nothing is forgiven that a mail program might not forgive. */
export function readMail({ raw }: Got): ReadMail {
  const end = raw.indexOf("\r\n\r\n");
  const headers = headersIn(raw.slice(0, end));
  const boundary = /boundary="([^"]+)"/.exec(headers.get("content-type") ?? "")?.[1] ?? "";
  const parts = raw.slice(end).split(`\r\n--${boundary}`).slice(1, -1);
  const read = parts.map((part) => {
    const middle = part.indexOf("\r\n\r\n");
    const own = headersIn(part.slice(2, middle));
    const body = part.slice(middle + 4);
    return { type: own.get("content-type") ?? "", text: decoded(body, own.get("content-transfer-encoding")) };
  });
  const of = (type: string) =>
    (read.find((part) => part.type.startsWith(type))?.text ?? "").replaceAll("\r\n", "\n");
  return { headers, parts: parts.length, text: of("text/plain"), html: of("text/html") };
}
