/** Nodes: the processes that execute for the tenant, and what they have in hand. */
import { z } from "zod";
import { type FleetNode, listNodes } from "../../engine/nodes.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { ok, route } from "../route.ts";
import { time, timeOrNull, timeSchema } from "../wire.ts";

const NODES = "nodes";
const count = z.number().int().min(0);

const nodeSchema = z.object({
  epoch: z.string(),
  status: z
    .enum(["live", "lapsed", "closed", "died"])
    .meta({ description: "lapsed: it does not hold its epoch any more, and nobody has ended it yet" }),
  kind: z.string().meta({ description: "server, worker or program" }),
  version: z.string().nullable(),
  agent: z.string(),
  process: z.string().meta({ description: "host/pid" }),
  tenant: z.string(),
  since: timeSchema,
  ended_at: timeSchema.nullable(),
  definitions: z
    .array(z.string())
    .nullable()
    .meta({ description: "names of the workflows that it runs, as it began; null where it did not say" }),
  workflows: count.meta({ description: "that it runs now; those that wait are nobody's" }),
  effects: count.meta({ description: "that it has started and that have not ended" }),
});

function nodeOnWire({ id, openedAt, endedAt, ...same }: FleetNode) {
  return { epoch: id, ...same, since: time(openedAt), ended_at: timeOrNull(endedAt) };
}

export const nodeRoutes = [
  route({
    method: "GET",
    path: "/api/nodes",
    summary: "The nodes of the tenant, newest first; those that are there unless all are asked for",
    description: "Times, and whether a lease holds, by the store's clock.",
    tag: "server",
    scope: "journal:read",
    query: z.strictObject({
      all: z.enum(["true", "false"]).default("false").meta({ description: "those that have ended too" }),
      ...pageQuery,
    }),
    answers: { 200: z.object({ nodes: z.array(nodeSchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const page = { all: query.all === "true", ...pageOf(NODES, query) };
      const { items, next } = await listNodes(runtime, page);
      return ok({ nodes: items.map(nodeOnWire), next_cursor: sealCursor(NODES, next) });
    },
  }),
];
