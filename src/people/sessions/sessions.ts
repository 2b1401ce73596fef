/** Sessions: a login link starts one, and a person's own sessions: that person lists and ends them. */

import { HoldpointError } from "../../kernel/errors.ts";
import { loginStream, sessionStream } from "../../kernel/stream.ts";
import { eachRow } from "../../runtime/lists.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import { forgetCredentials } from "../authenticate.ts";
import {
  CREDENTIAL_SECRET_BYTES,
  type CredentialFault,
  credentialSecretText,
  csrfToken,
  formatSession,
  hashOfSecret,
  parseCredential,
} from "../rules/credential.ts";
import { decideLogIn as begin, decideEndSession as end } from "./rules.ts";
import type { LoginFault } from "./stream.ts";

type LoginDependencies = Pick<Runtime, "store" | "tenant" | "clock" | "random">;

const SESSION_MS = 12 * 3_600_000;

export type LoggedIn = {
  readonly tenant: string;
  readonly session: string;
  readonly person: string;
  readonly expiresAt: number;
  /** Value of the session cookie. */
  readonly cookie: string;
  /** CSRF token that a page sends with every change. */
  readonly csrf: string;
};
type NotLoggedIn = { readonly refused: CredentialFault | LoginFault | "malformed" };

/** Checks with a read: a write transaction allocates its tenant, so names made up by strangers would fill the store. */
async function isOffered(
  { store }: Pick<LoginDependencies, "store">,
  tenant: string,
  login: string,
): Promise<boolean> {
  return (await store.read(tenant, loginStream(login), { limit: 1 })).length > 0;
}

/** Logs in with a link, in the tenant that the link names. */
export async function logIn(
  hands: Omit<LoginDependencies, "tenant">,
  text: string,
  lastsMs: number = SESSION_MS,
): Promise<LoggedIn | NotLoggedIn> {
  const read = parseCredential("hpl", text);
  if (typeof read === "string") return { refused: "malformed" };
  const { tenant, id: login, hash } = read;
  if (!(await isOffered(hands, tenant, login))) return { refused: "unknown" };
  const session = freshId(hands, "ses");
  const secret = hands.random(CREDENTIAL_SECRET_BYTES);
  const cookie = formatSession({ tenant, id: session, secret }) ?? "";
  const sessionHash = hashOfSecret(credentialSecretText(secret));
  const needs = { write: [loginStream(login), sessionStream(session)] };
  const answer = await runCommand({ ...hands, tenant }, needs, (draft) =>
    begin(draft, { login, hash, session, sessionHash, lastsMs }),
  );
  if (answer.kind === "refused") return { refused: answer.refused };
  const { person, expiresAt } = answer;
  return { tenant, session, person, expiresAt, cookie, csrf: csrfToken(credentialSecretText(secret)) };
}

/** Returns whether the session was open until now. */
export async function endSession(
  place: Pick<LoginDependencies, "store" | "tenant" | "clock">,
  session: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<boolean> {
  try {
    return await runCommand(place, { write: [sessionStream(session)] }, (draft) =>
      end(draft, { session, by, reason }),
    );
  } finally {
    forgetCredentials(place.store);
  }
}

type SessionDependencies = Pick<Runtime, "store" | "tenant" | "clock">;

type OpenSession = { readonly id: string; readonly begunAt: number; readonly expiresAt: number };

/** Open sessions, newest first. */
export async function listOpenSessions(
  place: SessionDependencies,
  person: string,
): Promise<readonly OpenSession[]> {
  const found: OpenSession[] = [];
  const now = place.clock.now();
  for await (const { stream, data } of eachRow(place, {
    view: "sessions",
    bucket: person,
    order: "newest",
  })) {
    const [begunAt, expiresAt] = [Number(data["begunAt"]), Number(data["expiresAt"])];
    if (expiresAt > now) found.push({ id: stream.id, begunAt, expiresAt });
  }
  return found;
}

/** Another person's session is reported as unknown. Returns whether the session was open until now. */
export async function endOwnSession(
  place: SessionDependencies,
  person: string,
  id: string,
): Promise<boolean> {
  const state = await readState(place, sessionStream(id));
  if (state.status === "none" || state.person !== person)
    throw new HoldpointError("unknown_id", `There is no session ${id} of yours.`);
  return endSession(place, id, { by: person, reason: "ended by its owner" });
}

/** Returns how many were open until now. */
export async function endOwnSessions(place: SessionDependencies, person: string): Promise<number> {
  let ended = 0;
  for (const { id } of await listOpenSessions(place, person))
    if (await endOwnSession(place, person, id)) ended++;
  return ended;
}
