/**
 * PostgreSQL's and the network's errors as Holdpoint errors, and the retry while a server restarts, as long as it is
 * certain that nothing was committed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, HoldpointError, isHoldpointError } from "../../kernel/errors.ts";

type Meaning = readonly [code: ErrorCode, what: string, next: string];

const REACH = "Check that the server runs and can be reached, then call again.";
const RIGHTS = "Give the user the rights that the guide on PostgreSQL lists.";

/** By the full SQLSTATE, else by its class. */
const MEANING: { readonly [state: string]: Meaning } = {
  "08": ["store_unavailable", "The connection to the database was lost.", REACH],
  "25006": ["store_read_only", "The database is read-only.", "Connect to the primary server."],
  "28": [
    "store_unavailable",
    "The database refused the user.",
    "Check the user, the password and pg_hba.conf.",
  ],
  "3D000": ["store_unavailable", "The database does not exist.", "Create it, or correct its name."],
  "40": ["store_busy", "The transaction lost against others too often.", "Call again."],
  "42501": ["store_unsuitable", "The user may not do this in the database", RIGHTS],
  "42P01": ["store_foreign", "A table of Holdpoint's is missing.", "Point Holdpoint at a schema of its own."],
  "53100": ["store_full", "The disk of the database is full.", "Free disk space there, then call again."],
  "53200": [
    "store_unavailable",
    "The database ran out of memory.",
    "Raise max_locks_per_transaction, or call again.",
  ],
  "53300": ["store_busy", "The database takes no more connections.", "Raise max_connections, or use fewer."],
  "54": ["payload_too_large", "The database cannot hold a value of this size.", "Send less."],
  "55P03": ["store_busy", "Another process held a lock for too long.", "Call again."],
  "57014": ["store_busy", "The database took too long and was told to stop.", "Call again."],
  "57P": ["store_unavailable", "The database is shutting down or starting.", "Call again when it is up."],
  "58": ["store_unavailable", "The database's disk failed.", "Look at the server's log."],
  XX001: ["store_corrupt", "A page of the database is damaged.", "Keep a copy, then restore a backup."],
  XX002: [
    "store_corrupt",
    "An index of the database is damaged.",
    "Keep a copy, then REINDEX or restore a backup.",
  ],
  "23": [
    "broken_rule",
    "A row that has to be unique was there already.",
    "Report this, with the server's log.",
  ],
};

const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);
/** `pg` has no codes for these. */
const LOST =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error);
  // System error codes have no digit; every SQLSTATE has one.
  return code !== undefined && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return error.code;
}

/** For a file, ENOENT is a mistake; for a socket, the server is not running. */
export function networkCode(error: unknown): string | undefined {
  const code = codeOf(error) ?? "";
  const isSocket = error instanceof Error && "syscall" in error && error.syscall === "connect";
  return NETWORK.has(code) || (code === "ENOENT" && isSocket) ? code : undefined;
}

/** The connection is unusable, or none could be made. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|57P0[1-5]|25P03)/.test(state);
  if (networkCode(error) !== undefined) return true;
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  return error instanceof Error && LOST.test(error.message);
}

/** The same call may succeed on retry. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return (
    isConnectionLost(error) || (state !== undefined && /^(40001|40P01|55P03|53200|53300|57014)$/.test(state))
  );
}

export const isPostgresDamage = (error: unknown): boolean => /^XX00[12]$/.test(sqlState(error) ?? "");

export function translatePostgresError(error: unknown): unknown {
  if (isHoldpointError(error)) return error;
  const state = sqlState(error);
  if (state === undefined && !isConnectionLost(error)) return error;
  const [code, meaning, next] = meaningOf(state ?? "08");
  const what = state === "42501" && error instanceof Error ? `${meaning}: ${error.message}.` : meaning;
  return new HoldpointError(code, what, { cause: error, next, ...(isKept(code) && { data: KEPT }) });
}

const KEPT = "The database was left as it is.";
const isKept = (code: ErrorCode): boolean =>
  code === "store_corrupt" || code === "store_foreign" || code === "store_unsuitable";

function meaningOf(state: string): Meaning {
  const fallback: Meaning = ["store_unavailable", `The database answered with the error ${state}.`, REACH];
  return MEANING[state] ?? MEANING[state.slice(0, 3)] ?? MEANING[state.slice(0, 2)] ?? fallback;
}

export type ConnectRetry = { readonly random: (bytes: number) => Uint8Array; readonly busyMs: number };

type RetryRules = { isPassing(error: unknown, tries: number): boolean; translated(error: unknown): unknown };

const LONGEST_PAUSE_MS = 250;

/** For idempotent work only. */
export async function retryWhileUnavailable<Answer>(
  patience: ConnectRetry,
  attempt: () => Promise<Answer>,
  manners: RetryRules = { isPassing: isTransient, translated: translatePostgresError },
): Promise<Answer> {
  const start = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const isOver = performance.now() - start >= patience.busyMs;
      if (isOver || !manners.isPassing(error, tries)) throw manners.translated(error);
      await sleep(pauseMs(patience, tries));
    }
  }
}

/** Back-off with jitter: longer each time, and different for two callers. */
export function pauseMs({ random }: ConnectRetry, tries: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, 5 * 2 ** Math.min(tries, 6));
  return 2 + ((random(1)[0] ?? 0) / 256) * longest;
}
