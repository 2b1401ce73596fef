/** Login links, and the sessions that people get by them. */
import type { Fault } from "../../core/credential.ts";
import { hashOfSecret, readText, SECRET_BYTES, secretText } from "../../core/key/key-text.ts";
import { logIn as begin, endSession as end, offerLogin as offer } from "../../core/session/log-in.ts";
import { csrfOf, printSession } from "../../core/session/session-text.ts";
import type { LoginFault } from "../../core/session/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { loginStream, sessionStream } from "../../kernel/stream.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";

import { forgetCredentials } from "./authenticate.ts";
import { checkBy, checkLinkTime, checkPerson } from "./check-identity.ts";
import { makeSecret } from "./keys.ts";

type Hands = Pick<Runtime, "store" | "tenant" | "clock" | "random">;

export const LINK_MS = 10 * 60_000;
export const SESSION_MS = 12 * 3_600_000;

/** `text` makes one session, once, before `expiresAt`. It is answered this once and kept nowhere. */
export type LoginLink = { readonly id: string; readonly text: string; readonly expiresAt: number };

export async function offerLogin(
  hands: Hands,
  person: string,
  offered: Via & { readonly by: string; readonly forMs?: number },
): Promise<LoginLink> {
  const { by, forMs = LINK_MS } = offered;
  checkPerson(person);
  checkBy(by);
  checkLinkTime(forMs);
  const id = freshId(hands, "lgn");
  const { text, hash } = makeSecret(hands, "hpl", id);
  const command = { login: id, person, hash, lastsMs: forMs, by, ...channelField(offered) };
  const answer = await runCommand(hands, { write: [loginStream(id)] }, (draft) => offer(draft, command));
  if (answer.kind === "not_allowed")
    throw new HoldpointError("not_eligible", `No link was made: ${answer.reason}.`, {
      data: "Nothing was written.",
      next: "`holdpoint people add` puts somebody into the list.",
    });
  return { id, text, expiresAt: answer.expiresAt };
}

export type LoggedIn = {
  readonly tenant: string;
  readonly session: string;
  readonly person: string;
  readonly expiresAt: number;
  /** The value of the cookie. */
  readonly cookie: string;
  /** What a page sends along with every change. */
  readonly csrf: string;
};
export type NotLoggedIn = { readonly refused: Fault | LoginFault | "malformed" };

/** A transaction that may write makes room for its tenant: names that a stranger made up would fill the store. */
async function isOffered({ store }: Pick<Hands, "store">, tenant: string, login: string): Promise<boolean> {
  return (await store.read(tenant, loginStream(login), { limit: 1 })).length > 0;
}

/** Uses a link. The tenant is the one that the link names. */
export async function logIn(
  hands: Omit<Hands, "tenant">,
  text: string,
  lastsMs: number = SESSION_MS,
): Promise<LoggedIn | NotLoggedIn> {
  const read = readText("hpl", text);
  if (typeof read === "string") return { refused: "malformed" };
  const { tenant, id: login, hash } = read;
  if (!(await isOffered(hands, tenant, login))) return { refused: "unknown" };
  const session = freshId(hands, "ses");
  const secret = hands.random(SECRET_BYTES);
  const cookie = printSession({ tenant, id: session, secret }) ?? "";
  const sessionHash = hashOfSecret(secretText(secret));
  const needs = { write: [loginStream(login), sessionStream(session)] };
  const answer = await runCommand({ ...hands, tenant }, needs, (draft) =>
    begin(draft, { login, hash, session, sessionHash, lastsMs }),
  );
  if (answer.kind === "refused") return { refused: answer.refused };
  const { person, expiresAt } = answer;
  return { tenant, session, person, expiresAt, cookie, csrf: csrfOf(secretText(secret)) };
}

/** Answers whether it was open until now. */
export async function endSession(
  place: Pick<Hands, "store" | "tenant" | "clock">,
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
