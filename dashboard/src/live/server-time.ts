/** What time it is at the server. Deadlines are the server's, and the clock of whoever looks may be hours off. */

/** What an answer says of the time: the second in which it was given, between the two moments by the browser's clock. */
export type Told = { readonly date: number; readonly sent: number; readonly received: number };

const SECOND_MS = 1_000;

/**
 * By how much the server is ahead. Answers name whole seconds and take a while on their way, so each only says between which bounds it
 * lies: what lies there already stays, and no clock jumps with every answer.
 */
export function aheadAfter(ahead: number, { date, sent, received }: Told): number {
  const least = date - received;
  const most = date + SECOND_MS - sent;
  return Math.min(Math.max(ahead, least), most);
}

let ahead = 0;
const listeners = new Set<() => void>();

export const serverNow = (): number => Date.now() + ahead;

/** Told whenever the browser's clock turns out to be otherwise wrong than was known. */
export function onServerTime(listener: () => void): void {
  listeners.add(listener);
}

/** `fetch`, of whose answers the time is taken. */
export const fetchAndTellTime: typeof fetch = async (input, init) => {
  const sent = Date.now();
  const response = await fetch(input, init);
  const date = Date.parse(response.headers.get("date") ?? "");
  const next = Number.isNaN(date) ? ahead : aheadAfter(ahead, { date, sent, received: Date.now() });
  if (next !== ahead) {
    ahead = next;
    for (const listener of listeners) listener();
  }
  return response;
};
