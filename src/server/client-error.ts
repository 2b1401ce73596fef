/** What is no request at all: answered on the bare socket, and closed. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { HoldpointError } from "../core/errors.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";

const STATUSES: { readonly [code: string]: number } = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ""] ?? 400;
  const what = status === 408 ? "The request did not come in time." : "This is not HTTP that can be read.";
  const problem = problemOf(new HoldpointError("invalid_input", what), { instance: "/", requestId });
  const body = JSON.stringify({ ...problem, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
