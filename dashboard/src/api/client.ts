/** The one connection to the server: the browser sends the session's cookie by itself, the token is added to what changes. */
import { type Client, createClient } from "holdpoint/client";
import { fetchAndTellTime } from "../live/server-time.ts";
import { leavingOn401, onLeft } from "./leaving.ts";

let csrfToken: string | null = null;

/** Told by whoever has asked who one is. */
export function rememberToken(token: string | null): void {
  csrfToken = token;
}

export const client: Client = createClient({
  server: window.location.origin,
  credential: () => (csrfToken === null ? undefined : { csrfToken }),
  // A person is waiting: they are told soon, and can ask again themselves.
  retries: 1,
  fetch: leavingOn401(fetchAndTellTime),
});

onLeft(() => void client.session.get().catch(() => undefined));
