/**
 * Calls a server with the library's methods, and throws the library's errors.
 * The actor is the credential's principal. Only without authentication is it the one that the caller names.
 */

import type { LibraryVerb } from "../../api/library.ts";
import { readMicros } from "../../api/micros-json.ts";
import type { Client } from "../../client/client.ts";
import { type ClientError, isClientError } from "../../client/client-error.ts";
import { ERROR_CODES, type ErrorCode, HoldpointError } from "../../kernel/errors.ts";

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/** A server that does not answer counts as an unreachable store. */
function codeOf({ code }: ClientError): ErrorCode {
  if (isKnown(code)) return code;
  return code === "no_answer" || code === "strange_answer" ? "store_unavailable" : "unexpected";
}

export function fromClientError(error: unknown): unknown {
  if (!isClientError(error)) return error;
  const { what, data, next, details } = error;
  return new HoldpointError(codeOf(error), what, { data, next, details, cause: error });
}

/** Runs one or several calls of the client. */
export async function relay<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw fromClientError(error);
  }
}

export type AskLibrary = <Answer>(verb: LibraryVerb, ...args: readonly unknown[]) => Promise<Answer>;

/** Runs a reading verb on the server. */
export function libraryReader(client: Client): AskLibrary {
  return <Answer>(verb: LibraryVerb, ...args: readonly unknown[]) =>
    relay(async () => {
      const { answer } = await client.server.library({ verb, args: JSON.stringify(args) });
      return JSON.parse(JSON.stringify(answer ?? null), readMicros) as Answer;
    });
}

export type RemoteActor = {
  readonly client: Client;
  /** null if the server runs without authentication. */
  readonly principal: string | null;
};

/** Omitted if the credential determines the actor. */
export function actorField({ principal }: RemoteActor, who: string): { readonly by?: string } {
  return principal === null ? { by: who } : {};
}

/** Drops the fields that are undefined. */
export function definedFields<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}
