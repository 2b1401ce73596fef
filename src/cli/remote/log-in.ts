/** `login` and `logout` at a server. Loaded only by them. */

import { createClient } from "../../client/client.ts";
import { isClientError } from "../../client/client-error.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { visible } from "../../kernel/text.ts";
import { type Context, EXIT } from "../shell/command.ts";
import { askSecret } from "../shell/prompt.ts";
import { relay } from "./relay.ts";
import {
  clientFor,
  forgetLogin,
  isUnencrypted,
  keepLogin,
  readLogins,
  serverAddress,
  serverForLogin,
} from "./server.ts";

const COOKIE = /^__Host-holdpoint=[^;]+/;

type LoggedIn = { readonly server: string; readonly principal: string; readonly until: string | null };

async function byKey(server: string, key: string): Promise<LoggedIn> {
  const { principal } = await relay(() => createClient({ server, credential: { key } }).session.get());
  if (principal === null)
    throw new HoldpointError(
      "wrong_state",
      `${server} authenticates nobody: there is nothing to log in to.`,
      {
        next: `Use it as it is: holdpoint approvals --server ${server}`,
      },
    );
  keepLogin(server, { key });
  return { server, principal, until: null };
}

/** Reads the session cookie from the response header, since there is no browser to keep it. */
async function byLink(server: string, link: string): Promise<LoggedIn> {
  let cookie: string | undefined;
  const client = createClient({
    server,
    async fetch(input, init) {
      const response = await fetch(input, init);
      cookie = response.headers.getSetCookie().find((one) => COOKIE.test(one));
      return response;
    },
  });
  const { person, expires_at, csrf_token } = await relay(() => client.session.open({ link }));
  const value = COOKIE.exec(cookie ?? "")?.[0];
  if (value === undefined)
    throw new HoldpointError("unexpected", `${server} opened a session and did not say which.`);
  keepLogin(server, { cookie: value, csrf_token, expires_at });
  return { server, principal: person, until: expires_at };
}

/** A full link names its server. */
async function logIn(context: Context): Promise<LoggedIn> {
  const asked = serverForLogin(context.values);
  if (isUnencrypted(asked))
    context.terminal.note(
      `Note: ${visible(asked)} has no TLS: whoever is on the way can read what you type.`,
    );
  const secret = await askSecret(`API key or login link for ${visible(asked)} (it is not shown): `);
  const [, place, token] = /^(https?:\/\/[^#\s]+?)\/login#(\S+)$/.exec(secret) ?? [];
  if (place !== undefined && token !== undefined)
    return byLink(context.values.has("server") ? asked : serverAddress(place), token);
  return secret.startsWith("hpk_") ? byKey(asked, secret) : byLink(asked, secret);
}

export async function runLogIn(context: Context): Promise<number> {
  const { terminal, json } = context;
  const found = await logIn(context);
  if (json) terminal.json(found);
  else {
    const until = found.until === null ? "" : `, until ${found.until}`;
    terminal.line(`Logged in to ${visible(found.server)} as ${visible(found.principal)}${until}.`);
  }
  return EXIT.ok;
}

/** Ends the session on the server too. Even if the server is unreachable, nothing is kept here. */
async function endThere(server: string): Promise<boolean> {
  try {
    return (await clientFor(server).session.end()).ended;
  } catch (error) {
    if (!isClientError(error)) throw error;
    return false;
  }
}

export async function logOut({ terminal, json, values }: Context): Promise<number> {
  const server = serverForLogin(values);
  const kept = readLogins().logins[server];
  const ended = kept !== undefined && !("key" in kept) && (await endThere(server));
  if (kept !== undefined) forgetLogin(server);
  if (json) terminal.json({ server, forgotten: kept !== undefined, ended });
  else if (kept === undefined) terminal.line(`There is no login to ${visible(server)} here.`);
  else terminal.line(`Logged out of ${visible(server)}.`);
  return EXIT.ok;
}
