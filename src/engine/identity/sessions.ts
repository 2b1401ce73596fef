/** A person's sessions, looked at and ended by that person. */
import { HoldpointError } from "../../kernel/errors.ts";
import { sessionStream } from "../../kernel/stream.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";

import { endSession } from "./logins.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;

export type OpenSession = { readonly id: string; readonly begunAt: number; readonly expiresAt: number };

/** Those that are open, newest first. */
export async function sessionsOf(place: Place, person: string): Promise<readonly OpenSession[]> {
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

/** Somebody else's is as unknown as one that never was. Answers whether it was open until now. */
export async function endOwnSession(place: Place, person: string, id: string): Promise<boolean> {
  const state = await readState(place, sessionStream(id));
  if (state.status === "none" || state.person !== person)
    throw new HoldpointError("unknown_id", `There is no session ${id} of yours.`);
  return endSession(place, id, { by: person, reason: "ended by its owner" });
}

/** Answers how many were open until now. */
export async function endOwnSessions(place: Place, person: string): Promise<number> {
  let ended = 0;
  for (const { id } of await sessionsOf(place, person)) if (await endOwnSession(place, person, id)) ended++;
  return ended;
}
