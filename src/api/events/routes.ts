/**
 * Live events: server-sent events in commit order, resumable by the position of the last one.
 * The registry says which scope reads which kind of stream; the others are for readers of the journal only.
 */
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import { STREAM_KINDS, type StreamKind, scopeToRead } from "../../kernel/registry.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { workflowState } from "../../workflows/read.ts";
import type { Who } from "../authenticate.ts";
import { route } from "../route.ts";
import { idSchema } from "../wire.ts";
import { type EventAudience, type ListenRequest, listenToJournal } from "./listeners.ts";

/** A reader of the journal reads all kinds. */
const mayReadKind = (who: Pick<Who, "can">, kind: StreamKind): boolean =>
  who.can(scopeToRead(kind)) || who.can("journal:read");

const readableKinds = (who: Pick<Who, "can">): readonly StreamKind[] =>
  STREAM_KINDS.filter((kind) => mayReadKind(who, kind));

const position = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const streams = z
  .string()
  .max(500)
  .transform((text) => text.split(","))
  .pipe(z.array(z.enum(STREAM_KINDS)).min(1))
  .meta({ description: `kinds of streams, with commas: ${STREAM_KINDS.join(", ")}` });

const query = z.strictObject({
  stream: streams.optional(),
  workflow: idSchema.optional().meta({ description: "only what is about this workflow" }),
  after: position
    .optional()
    .meta({ description: "the position to go on after, where no header can be sent" }),
});

function kindsOf(who: Who, wanted: readonly StreamKind[] | undefined): readonly StreamKind[] {
  if (wanted === undefined) return readableKinds(who);
  const refused = wanted.find((kind) => !mayReadKind(who, kind));
  if (refused !== undefined)
    throw new HoldpointError("forbidden", `This needs the scope ${scopeToRead(refused)}.`);
  return wanted;
}

function wishOf(kinds: readonly StreamKind[], workflow: string | undefined): ListenRequest {
  const wanted = new Set(kinds);
  return {
    name: `${[...wanted].sort().join(",")}\n${workflow ?? ""}`,
    wants: (frame) => wanted.has(frame.kind) && (workflow === undefined || frame.workflow === workflow),
  };
}

function lastSeen(header: string | undefined, after: number | undefined): number | null {
  if (header === undefined || header === "") return after ?? null;
  const read = position.safeParse(header);
  if (!/^\d{1,16}$/.test(header) || !read.success)
    throw new HoldpointError("invalid_input", "Last-Event-ID is not the id of an event.");
  return read.data;
}

/**
 * Position to start from: by default the end of the store, though this process may not have read that far. After a
 * restore positions are lower: a client ahead of the store has seen another history.
 */
async function beginningOf({ store }: Runtime, after: number | null): Promise<number> {
  const last = await store.position();
  if (after === null || after <= last) return after ?? last;
  throw new HoldpointError("wrong_state", `The journal ends at ${last}, before the event ${after}.`, {
    data: "The store may have been restored; what you saw after that is not in it.",
    next: "Read the current state again, then listen without Last-Event-ID.",
    details: { position: last },
  });
}

export function eventRoutes(audience: EventAudience) {
  return [
    route({
      method: "GET",
      path: "/api/events",
      summary: "What happens, as it happens, in commit order",
      description:
        "Server-sent events. The id of each is its commit position; Last-Event-ID goes on after it. A stream that is not read is cut off, and goes on where it was when it comes back.",
      tag: "events",
      scope: "any",
      query,
      answers: { 200: "text/event-stream" },
      async handle({ who, office, query: asked, header, whoNow }) {
        const kinds = kindsOf(who, asked.stream);
        const after = lastSeen(header("last-event-id"), asked.after);
        const beginning = await beginningOf(office.runtime, after);
        // A workflow that does not exist here, or belongs to another tenant, is an error and not a silent stream.
        if (asked.workflow !== undefined) await workflowState(office.runtime, asked.workflow);
        await audience.hubOf(office).begun;
        const wish = wishOf(kinds, asked.workflow);
        const { credential } = who;
        const stillKnown = async () => {
          const now = await whoNow();
          return now !== undefined && kinds.every((kind) => mayReadKind(now, kind));
        };
        const takeOver = audience.admit({
          ...{ office, credential, stillKnown },
          listen: (response, hub) =>
            listenToJournal({ hub, place: office.runtime, wish, after: beginning, response }),
        });
        return { status: 200, takeOver };
      },
    }),
  ];
}
