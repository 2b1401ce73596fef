/** Asks a server as the library would be asked, and throws what it would throw. */

import type { LibraryVerb } from "../../api/library.ts";
import { readMicros } from "../../api/micros-json.ts";
import { type Client, type ClientError, isClientError } from "../../client/client.ts";
import { ERROR_CODES, type ErrorCode, HoldpointError } from "../../kernel/errors.ts";

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/** A server that does not answer is a store that cannot be reached. */
function codeOf({ code }: ClientError): ErrorCode {
  if (isKnown(code)) return code;
  return code === "no_answer" || code === "strange_answer" ? "store_unavailable" : "unexpected";
}

export function asHoldpointError(error: unknown): unknown {
  if (!isClientError(error)) return error;
  const { what, data, next, details } = error;
  return new HoldpointError(codeOf(error), what, { data, next, details, cause: error });
}

/** Runs a call, or several, of the client. */
export async function relayed<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw asHoldpointError(error);
  }
}

export type Look = <Answer>(verb: LibraryVerb, ...args: readonly unknown[]) => Promise<Answer>;

/** What a reading verb answers at the server. */
export function lookOf(client: Client): Look {
  return <Answer>(verb: LibraryVerb, ...args: readonly unknown[]) =>
    relayed(async () => {
      const { answer } = await client.server.library({ verb, args: JSON.stringify(args) });
      return JSON.parse(JSON.stringify(answer ?? null), readMicros) as Answer;
    });
}
