/**
 * Which server a command is for, if it is for one. What is typed wins over the environment, and that over what is here; a kept
 * login counts where nothing else says where the store is and there is none here.
 */
import {
  type AnswerOf,
  type Client,
  type Credential,
  createClient,
  isClientError,
} from "../../client/client.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Command, Values } from "../command.ts";
import { CommandError } from "../failure.ts";
import { folderOf, hasStore } from "../open-store.ts";
import { type KeptLogin, readLogins } from "./kept-logins.ts";
import { asHoldpointError } from "./relay.ts";
import { onlyHere } from "./remote.ts";

const USUAL = "http://127.0.0.1:8000";
const typed = (values: Values, name: string): string | undefined => values.get(name)?.at(-1);
const environment = (name: string): string | undefined => process.env[name] || undefined;

const noAddress = (text: string, cause: unknown): CommandError =>
  new CommandError("usage", `"${text}" is not a server's address.`, `Such as --server ${USUAL}`, cause);

/** As the client writes it, so that the same server has one name. */
export function addressOf(text: string): string {
  try {
    return createClient({ server: text }).address;
  } catch (error) {
    throw noAddress(text, error);
  }
}

function named(values: Values): string | undefined {
  const server = typed(values, "server");
  const isStoreTyped = values.has("data") || values.has("database");
  if (server !== undefined && isStoreTyped)
    throw new CommandError("usage", "--server excludes --data and --database.", "Leave one out.");
  return server ?? (isStoreTyped ? undefined : environment("HOLDPOINT_SERVER"));
}

function kept(values: Values): string | undefined {
  const isTyped = ["data", "database"].some((name) => values.has(name));
  const isSet = ["DATA", "DATABASE", "DATABASE_FILE"].some((name) => environment(`HOLDPOINT_${name}`));
  if (isTyped || isSet) return undefined;
  return hasStore(folderOf(undefined)) ? undefined : (readLogins().current ?? undefined);
}

/** Undefined where the command works on a store of this machine. */
export function serverFor(command: Command, values: Values): string | undefined {
  const { name, onlyHere: why, placeless, storeless } = command;
  if (placeless === true) return undefined;
  if (why !== undefined && values.has("server")) throw onlyHere(name, why);
  if (why !== undefined) return undefined;
  const server = named(values) ?? (storeless === true ? undefined : kept(values));
  return server === undefined ? undefined : addressOf(server);
}

/** For `login` and what belongs to it: there is always one. */
export function serverAsked(values: Values): string {
  return addressOf(named(values) ?? readLogins().current ?? USUAL);
}

function credentialOf(login: KeptLogin | undefined): Credential | undefined {
  if (login === undefined || "key" in login) return login;
  return { cookie: login.cookie, csrfToken: login.csrf_token };
}

/** A key of the environment wins over what is kept: that is how programs are told. */
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

/** Who one is there. Whoever is nobody is told how to become somebody. */
export async function knownAt(client: Client): Promise<AnswerOf<"GET /api/session">> {
  try {
    return await client.session.get();
  } catch (error) {
    const isNobody = isClientError(error, "unauthenticated");
    throw isNobody ? nobody(client.address, error) : asHoldpointError(error);
  }
}

/** Whether what is sent there can be read on the way. */
export function isInClear(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === "http:" && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
