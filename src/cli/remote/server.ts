/**
 * Which server a command is for, if any; logging in and out there; and the logins stored on this machine (a file only its user may read).
 * A flag wins over the environment, which wins over a local store; a stored login counts only if nothing names a store.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { AnswerOf } from "../../client/calls.ts";
import { type Client, createClient } from "../../client/client.ts";
import { type Credential, isClientError } from "../../client/connection.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { visible } from "../../kernel/text.ts";
import { keyFile } from "../../runtime/settings.ts";
import { type Command, CommandError, type Context, EXIT, flag, type Values } from "../shell/command.ts";
import { folderOf, hasStore, writePrivateJson } from "../shell/files.ts";
import { askSecret } from "../shell/prompt.ts";
import { fromClientError, onlyHere, relay } from "./remote.ts";

const login = z.union([
  z.object({ key: z.string() }),
  z.object({ cookie: z.string(), csrf_token: z.string(), expires_at: z.iso.datetime() }),
]);
const file = z.object({ current: z.string().nullable(), logins: z.record(z.string(), login) });

type KeptLogin = z.output<typeof login>;
type KeptLogins = z.output<typeof file>;

const NONE: KeptLogins = { current: null, logins: {} };

/** Next to the signing key, in the user's configuration folder. */
const loginsFile = (): string =>
  join(dirname(keyFile(undefined, (name) => process.env[name])), "logins.json");

function unusable(path: string, cause: unknown): CommandError {
  return new CommandError(
    "file_error",
    `The file of logins ${path} cannot be read.`,
    "Correct it, or remove it and log in again.",
    cause,
  );
}

function readLogins(): KeptLogins {
  const path = loginsFile();
  try {
    return file.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return NONE;
    throw unusable(path, error);
  }
}

const writeLogins = (logins: KeptLogins): void => writePrivateJson(loginsFile(), logins);

function keepLogin(server: string, kept: KeptLogin): void {
  const { logins } = readLogins();
  writeLogins({ current: server, logins: { ...logins, [server]: kept } });
}

function forgetLogin(server: string): void {
  const { current, logins } = readLogins();
  const { [server]: _forgotten, ...rest } = logins;
  writeLogins({ current: current === server ? null : current, logins: rest });
}

const USUAL = "http://127.0.0.1:8000";
const environment = (name: string): string | undefined => process.env[name] || undefined;

const noAddress = (text: string, cause: unknown): CommandError =>
  new CommandError("usage", `"${text}" is not a server's address.`, `Such as --server ${USUAL}`, cause);

/** Normalised as by the client, so that one server has one name. */
function serverAddress(text: string): string {
  try {
    return createClient({ server: text }).address;
  } catch (error) {
    throw noAddress(text, error);
  }
}

function namedServer(values: Values): string | undefined {
  const server = flag({ values }, "server");
  const isStoreTyped = values.has("data") || values.has("database");
  if (server !== undefined && isStoreTyped)
    throw new CommandError("usage", "--server excludes --data and --database.", "Leave one out.");
  return server ?? (isStoreTyped ? undefined : environment("HOLDPOINT_SERVER"));
}

function keptServer(values: Values): string | undefined {
  const isTyped = ["data", "database"].some((name) => values.has(name));
  const isSet = ["DATA", "DATABASE", "DATABASE_FILE"].some((name) => environment(`HOLDPOINT_${name}`));
  if (isTyped || isSet) return undefined;
  return hasStore(folderOf(undefined)) ? undefined : (readLogins().current ?? undefined);
}

/** undefined if the command works on a store of this machine. */
export function serverFor(command: Command, values: Values): string | undefined {
  const { name, onlyHere: why, placeless, storeless } = command;
  if (placeless === true) return undefined;
  if (why !== undefined && values.has("server")) throw onlyHere(name, why);
  if (why !== undefined) return undefined;
  const server = namedServer(values) ?? (storeless === true ? undefined : keptServer(values));
  return server === undefined ? undefined : serverAddress(server);
}

/** For `login` and related commands: there is always one. */
export function serverForLogin(values: Values): string {
  return serverAddress(namedServer(values) ?? readLogins().current ?? USUAL);
}

function credentialOf(login: KeptLogin | undefined): Credential | undefined {
  if (login === undefined || "key" in login) return login;
  return { cookie: login.cookie, csrfToken: login.csrf_token };
}

/** A key from the environment wins over a stored login: that is how programs authenticate. */
export function clientFor(server: string): Client {
  const key = environment("HOLDPOINT_API_KEY");
  const credential = key === undefined ? credentialOf(readLogins().logins[server]) : { key };
  return createClient({ server, retries: 2, ...(credential === undefined ? {} : { credential }) });
}

function nobody(server: string, cause: unknown): HoldpointError {
  return new HoldpointError("unauthenticated", `${server} does not know who you are, or no longer.`, {
    next: `Log in: holdpoint login --server ${server}`,
    cause,
  });
}

/** The caller's identity on the server. If there is none, the error explains how to log in. */
export async function whoAmIAt(client: Client): Promise<AnswerOf<"GET /api/session">> {
  try {
    return await client.session.get();
  } catch (error) {
    const isNobody = isClientError(error, "unauthenticated");
    throw isNobody ? nobody(client.address, error) : fromClientError(error);
  }
}

/** Whether data sent there can be read in transit. */
function isUnencrypted(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === "http:" && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

const COOKIE = /^__Host-holdpoint=[^;]+/;

type LoggedIn = { readonly server: string; readonly principal: string; readonly until: string | null };

async function byKey(server: string, key: string): Promise<LoggedIn> {
  const { principal } = await relay(() => createClient({ server, credential: { key } }).session.get());
  if (principal === null)
    throw new HoldpointError("wrong_state", `${server} does not authenticate callers: there is no login.`, {
      next: `Use it as it is: holdpoint approvals --server ${server}`,
    });
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
      `Note: ${visible(asked)} has no TLS: anyone on the network path can read what you type.`,
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
