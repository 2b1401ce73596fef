/**
 * A server that stops answering says nothing, and neither does the network: a line on which nothing moved for too long
 * while its server is waited for is cut, and counts as lost.
 */
import type { Socket } from "node:net";
import type { Client } from "./driver.ts";

export function limitSilence({ connection }: Pick<Client, "connection">, mostMs: number): () => void {
  const stream = connection.stream as Socket;
  const cut = () => stream.destroy(new Error("Connection terminated: the server does not answer."));
  stream.setTimeout(mostMs, cut);
  return () => void stream.setTimeout(0, cut);
}
