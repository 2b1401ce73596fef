import { createClient } from "../../client/client.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { visible } from "../../kernel/text.ts";

import { type Context, EXIT } from "../command.ts";
import { keepLogin } from "./kept-logins.ts";
import { relayed } from "./relay.ts";
import { askSecret } from "./secret-prompt.ts";
import { addressOf, isInClear, serverAsked } from "./server-place.ts";

const COOKIE = /^__Host-holdpoint=[^;]+/;

type LoggedIn = { readonly server: string; readonly principal: string; readonly until: string | null };

async function byKey(server: string, key: string): Promise<LoggedIn> {
  const { principal } = await relayed(() => createClient({ server, credential: { key } }).session.get());
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

/** The session's cookie comes in a header, which a browser would keep. */
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
  const { person, expires_at, csrf_token } = await relayed(() => client.session.open({ link }));
  const value = COOKIE.exec(cookie ?? "")?.[0];
  if (value === undefined)
    throw new HoldpointError("unexpected", `${server} opened a session and did not say which.`);
  keepLogin(server, { cookie: value, csrf_token, expires_at });
  return { server, principal: person, until: expires_at };
}

/** A link in full says which server it is of. */
async function logIn(context: Context): Promise<LoggedIn> {
  const asked = serverAsked(context.values);
  if (isInClear(asked))
    context.terminal.note(
      `Note: ${visible(asked)} has no TLS: whoever is on the way can read what you type.`,
    );
  const secret = await askSecret(`API key or login link for ${visible(asked)} (it is not shown): `);
  const [, place, token] = /^(https?:\/\/[^#\s]+?)\/login#(\S+)$/.exec(secret) ?? [];
  if (place !== undefined && token !== undefined)
    return byLink(context.values.has("server") ? asked : addressOf(place), token);
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
