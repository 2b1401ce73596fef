/** How long to wait before asking again: longer each time, never the same for two, and as long as the server says. */
import type { ClientError } from "./client-error.ts";
import type { Connection } from "./connection.ts";

const FIRST_MS = 250;
const MOST_MS = 10_000;

export function backOffMs(
  { random }: Pick<Connection, "random">,
  failures: number,
  error?: ClientError,
): number {
  const grown = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  const said = error?.details["retry_after"];
  const asked = typeof said === "number" && said > 0 ? said * 1_000 : 0;
  return Math.max(asked, grown / 2) + (random() * grown) / 2;
}

/** The server is there and says that it cannot now; nothing of the request was done. */
const isLater = ({ status, code, retryable }: ClientError): boolean =>
  status === 429 || code === "closed" || (status === 503 && retryable);

/** Whoever stands between says so in its own words. */
const BETWEEN = new Set([502, 503, 504]);
const isBroken = ({ code, status }: ClientError): boolean =>
  code === "no_answer" || (code === "strange_answer" && BETWEEN.has(status));

/**
 * `safe`: it does no harm to do it twice. What is not is sent again only when the server has said that it was not begun.
 */
export function mayRepeat(error: ClientError, safe: boolean): boolean {
  return safe ? isLater(error) || isBroken(error) : error.status === 429;
}
