/** The sessions of whoever asks: where one is logged in, and the ending of that. */
import { z } from "zod";
import { endOwnSession, endOwnSessions, sessionsOf } from "../../engine/identity/sessions.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isPerson } from "../../kernel/principal.ts";
import type { Who } from "../authenticate.ts";
import { checkNotNarrowed } from "../person.ts";
import { ok, route } from "../route.ts";
import { idParams, time, timeSchema } from "../wire.ts";

const session = z.object({
  session_id: z.string(),
  begun_at: timeSchema,
  expires_at: timeSchema,
  is_this: z.boolean().meta({ description: "the one that asks" }),
});

function ownerOf({ principal }: Who): string {
  if (principal !== null && isPerson(principal)) return principal;
  throw new HoldpointError("forbidden", "Only people have sessions, and this is not a person's credential.");
}

/** Whose sessions it may end. */
function enderOf(who: Who): string {
  const owner = ownerOf(who);
  checkNotNarrowed(who);
  return owner;
}

export const ownSessionRoutes = [
  route({
    method: "GET",
    path: "/api/sessions",
    summary: "Where one is logged in, newest first",
    tag: "identities",
    scope: "any",
    answers: { 200: z.object({ sessions: z.array(session) }) },
    async handle({ runtime, who }) {
      const open = await sessionsOf(runtime, ownerOf(who));
      const sessions = open.map(({ id, begunAt, expiresAt }) => ({
        session_id: id,
        begun_at: time(begunAt),
        expires_at: time(expiresAt),
        is_this: id === who.credential,
      }));
      return ok({ sessions });
    },
  }),
  route({
    method: "DELETE",
    path: "/api/sessions/{id}",
    summary: "End one of one's own sessions",
    tag: "identities",
    scope: "any",
    params: idParams,
    answers: { 200: z.object({ ended: z.boolean() }) },
    handle: async ({ runtime, who, params }) =>
      ok({ ended: await endOwnSession(runtime, enderOf(who), params.id) }),
  }),
  route({
    method: "DELETE",
    path: "/api/sessions",
    summary: "End all of one's own sessions, the one that asks included",
    tag: "identities",
    scope: "any",
    answers: { 200: z.object({ ended: z.number() }) },
    handle: async ({ runtime, who }) => ok({ ended: await endOwnSessions(runtime, enderOf(who)) }),
  }),
];
