/**
 * Which server a command is for, if any, and the logins stored on this machine (a file only its user may read).
 * A flag wins over the environment, which wins over a local store; a stored login counts only if nothing names a store.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { AnswerOf } from "../../client/calls.ts";
import { type Client, createClient } from "../../client/client.ts";
import { isClientError } from "../../client/client-error.ts";
import type { Credential } from "../../client/connection.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { keyFile } from "../../runtime/settings.ts";
import type { Command, Values } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { folderOf, hasStore, writePrivateJson } from "../shell/files.ts";
import { fromClientError } from "./relay.ts";
import { onlyHere } from "./remote.ts";

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

export function readLogins(): KeptLogins {
  const path = loginsFile();
  try {
    return file.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return NONE;
    throw unusable(path, error);
  }
}

const writeLogins = (logins: KeptLogins): void => writePrivateJson(loginsFile(), logins);

export function keepLogin(server: string, kept: KeptLogin): void {
  const { logins } = readLogins();
  writeLogins({ current: server, logins: { ...logins, [server]: kept } });
}

export function forgetLogin(server: string): void {
  const { current, logins } = readLogins();
  const { [server]: _forgotten, ...rest } = logins;
  writeLogins({ current: current === server ? null : current, logins: rest });
}

const USUAL = "http://127.0.0.1:8000";
const typedFlag = (values: Values, name: string): string | undefined => values.get(name)?.at(-1);
const environment = (name: string): string | undefined => process.env[name] || undefined;

const noAddress = (text: string, cause: unknown): CommandError =>
  new CommandError("usage", `"${text}" is not a server's address.`, `Such as --server ${USUAL}`, cause);

/** Normalised as by the client, so that one server has one name. */
export function serverAddress(text: string): string {
  try {
    return createClient({ server: text }).address;
  } catch (error) {
    throw noAddress(text, error);
  }
}

function namedServer(values: Values): string | undefined {
  const server = typedFlag(values, "server");
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
export function isUnencrypted(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === "http:" && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
