/** How the live stream stands, for whoever shows it. */
import type { Connection } from "./one-stream.ts";

type Listener = () => void;
let connection: Connection = "connecting";
const listeners = new Set<Listener>();

export function tellConnection(next: Connection): void {
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

export const connectionNow = (): Connection => connection;
export function onConnection(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
