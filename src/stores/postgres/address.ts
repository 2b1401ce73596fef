/** The database's address: read once, before anything is connected, so that a mistake in it is told as such. */
import type { ClientConfig } from "pg";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Pg } from "./driver.ts";

export type Address = {
  /** Host and port, or the socket's folder. */
  readonly where: string;
  /** Without the password, should it be in there. */
  scrubbed(text: string): string;
};

export function isDatabaseUrl(text: string): boolean {
  try {
    return ["postgres:", "postgresql:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** An address that cannot be read is not repeated: it may hold a password. */
export function readAddress(pg: Pg, config: ClientConfig): Address {
  if (!isDatabaseUrl(config.connectionString ?? "")) throw unreadable("cannot be read");
  try {
    const { host, port, password } = new pg.Client(config);
    const scrubbed = (text: string) => (password ? text.replaceAll(password, "…") : text);
    return { where: host.startsWith("/") ? host : `${host}:${port}`, scrubbed };
  } catch (error) {
    if (isMissingFile(error)) throw unreadable(`names a file that cannot be read (${error.message})`);
    throw unreadable("cannot be read");
  }
}

/** A certificate or a key, named in the address. */
function isMissingFile(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "path" in error;
}

function unreadable(what: string): HoldpointError {
  return new HoldpointError("invalid_input", `The database's address ${what}.`, {
    next: "Write it as postgres://user:password@host:5432/database; signs such as @ in a password as %40.",
  });
}
