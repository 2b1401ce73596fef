/** Where somebody is logged in from this machine: a file of the user's, which nobody else may read. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { keyFile } from "../../runtime/settings.ts";
import { CommandError } from "../failure.ts";

const login = z.union([
  z.object({ key: z.string() }),
  z.object({ cookie: z.string(), csrf_token: z.string(), expires_at: z.iso.datetime() }),
]);
const file = z.object({ current: z.string().nullable(), logins: z.record(z.string(), login) });

export type KeptLogin = z.output<typeof login>;
export type KeptLogins = z.output<typeof file>;

const NONE: KeptLogins = { current: null, logins: {} };
const OWNER_ONLY = 0o600;

/** Beside the key that signs, in the user's configuration folder. */
export const loginsFile = (): string =>
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

/** Whole or not at all, and never readable for others in between. */
function writeLogins(logins: KeptLogins): void {
  const path = loginsFile();
  const beside = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(beside, `${JSON.stringify(logins, null, 2)}\n`, { mode: OWNER_ONLY });
    chmodSync(beside, OWNER_ONLY);
    renameSync(beside, path);
  } finally {
    rmSync(beside, { force: true });
  }
}

export function keepLogin(server: string, kept: KeptLogin): void {
  const { logins } = readLogins();
  writeLogins({ current: server, logins: { ...logins, [server]: kept } });
}

export function forgetLogin(server: string): void {
  const { current, logins } = readLogins();
  const { [server]: _forgotten, ...rest } = logins;
  writeLogins({ current: current === server ? null : current, logins: rest });
}
