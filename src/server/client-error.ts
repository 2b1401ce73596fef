/** What never becomes a request: answered without the router, and closed. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { HoldpointError } from "../kernel/errors.ts";
import { SECURITY_HEADERS } from "./guards/headers.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";

const STATUSES: { readonly [code: string]: number } = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

function problemText(status: number, what: string, requestId: string): string {
  const problem = problemOf(new HoldpointError("invalid_input", what), { instance: "/", requestId });
  return JSON.stringify({ ...problem, status });
}

/** `Expect` of anything but to go on. */
export function answerExpectation(response: ServerResponse, requestId: string): void {
  const body = problemText(417, "Nothing but 100-continue can be expected.", requestId);
  const own = {
    "content-type": PROBLEM_TYPE,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  response.writeHead(417, { ...SECURITY_HEADERS, ...own });
  response.end(body);
}

export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ""] ?? 400;
  const what = status === 408 ? "The request did not come in time." : "This is not HTTP that can be read.";
  const body = problemText(status, what, requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
