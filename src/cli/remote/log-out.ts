import { isClientError } from "../../client/client.ts";
import { visible } from "../../kernel/text.ts";
import { type Context, EXIT } from "../command.ts";
import { forgetLogin, readLogins } from "./kept-logins.ts";
import { clientFor, serverAsked } from "./server-place.ts";

/** A session is ended there as well. Whether the server can be reached or not, nothing is kept here. */
async function endThere(server: string): Promise<boolean> {
  try {
    return (await clientFor(server).session.end()).ended;
  } catch (error) {
    if (!isClientError(error)) throw error;
    return false;
  }
}

export async function logOut({ terminal, json, values }: Context): Promise<number> {
  const server = serverAsked(values);
  const kept = readLogins().logins[server];
  const ended = kept !== undefined && !("key" in kept) && (await endThere(server));
  if (kept !== undefined) forgetLogin(server);
  if (json) terminal.json({ server, forgotten: kept !== undefined, ended });
  else if (kept === undefined) terminal.line(`There is no login to ${visible(server)} here.`);
  else terminal.line(`Logged out of ${visible(server)}.`);
  return EXIT.ok;
}
