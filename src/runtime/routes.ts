/** HTTP routes of the journal (in commit order, one stream, everything about an id, verification) and of nodes. */
import { z } from "zod";
import { ok, route } from "../api/route.ts";
import {
  fillPage,
  idParams,
  idSchema,
  json,
  limitSchema,
  nextCursor,
  openCursor,
  pageOf,
  pageQuery,
  sealCursor,
  time,
  timeOrNull,
  timeSchema,
} from "../api/wire.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { STREAM_KINDS } from "../kernel/registry.ts";
import type { StreamRef } from "../kernel/stream.ts";

import type { JournalEntry, TenantStore } from "../stores/store.ts";
import { type FleetNode, listNodes } from "./epochs.ts";
import { type JournalRecord, parseRecord, readJournal, verifyStore } from "./journal.ts";
import { logEntries } from "./subscribe.ts";

const entrySchema = z.object({
  position: z.number().meta({ description: "in the store's commit order; rises, with gaps" }),
  stream: z.string(),
  seq: z.number(),
  type: z.string(),
  at: timeSchema,
  hash: z.string(),
  body: json,
});

function entryOnWire({ position, stream, seq, type, at, hash, body }: JournalRecord) {
  return { position, stream, seq, type, at: time(at), hash, body };
}

/** Most entries verified per request. More would take hours: the command line has no limit. */
const MOST_VERIFIED = 1_000_000;
const verifying = new WeakSet<object>();
const LIST = "journal";

/** Limited to safe integers. */
function positionOf(cursor: string | undefined): number {
  const text = openCursor(LIST, cursor) ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw new HoldpointError("invalid_input", "The cursor is not a position.");
  return Number(text);
}

/** Entries read at a time, before it is known whether they fit the page. */
const BATCH = 50;
const weightOf = ({ body, header }: JournalEntry): number => (body?.length ?? 0) + header.length;

async function* streamEntries(
  { store, tenant }: TenantStore,
  stream: StreamRef,
  first: number,
): AsyncGenerator<JournalEntry> {
  for (let fromSeq = first; ; fromSeq += BATCH) {
    const batch = await store.read(tenant, stream, { fromSeq, limit: BATCH });
    yield* batch;
    if (batch.length < BATCH) return;
  }
}

export const journalRoutes = [
  route({
    method: "GET",
    path: "/api/journal",
    summary: "Entries of the tenant in commit order",
    tag: "journal",
    scope: "journal:read",
    query: z.strictObject(pageQuery),
    answers: { 200: z.object({ entries: z.array(entrySchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const entriesAfter = logEntries(runtime, positionOf(query.cursor), BATCH);
      const { rows, isCut } = await fillPage(entriesAfter, query.limit, weightOf);
      const next = isCut ? String(rows.at(-1)?.position) : null;
      const entries = rows.map((entry) => entryOnWire(parseRecord(entry)));
      return ok({ entries, next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/journal/{kind}/{id}",
    summary: "One stream, oldest entry first",
    tag: "journal",
    scope: "journal:read",
    params: z.object({ kind: z.enum(STREAM_KINDS), id: idSchema }),
    query: z.strictObject({ from_seq: z.coerce.number().int().min(1).default(1), limit: limitSchema }),
    answers: { 200: z.object({ entries: z.array(entrySchema), next_seq: z.number().nullable() }) },
    async handle({ runtime, params, query }) {
      const { from_seq: fromSeq, limit } = query;
      const entriesFrom = streamEntries(runtime, params, fromSeq);
      const { rows, isCut } = await fillPage(entriesFrom, limit, weightOf);
      if (rows.length === 0 && fromSeq === 1)
        throw new HoldpointError("unknown_id", `There is no stream ${params.kind}/${params.id}.`);
      const entries = rows.map((entry) => entryOnWire(parseRecord(entry)));
      return ok({ entries, next_seq: isCut ? fromSeq + rows.length : null });
    },
  }),
  route({
    method: "GET",
    path: "/api/history/{id}",
    summary: "Everything about an action, an approval, a grant or a workflow, in commit order",
    tag: "journal",
    scope: "journal:read",
    params: idParams,
    answers: { 200: z.object({ entries: z.array(entrySchema) }) },
    handle: async ({ runtime, params }) =>
      ok({ entries: (await readJournal(runtime, params.id)).map(entryOnWire) }),
  }),
  route({
    method: "POST",
    path: "/api/journal/verify",
    summary: "Check every entry, chain and seal of the tenant; one at a time",
    tag: "journal",
    scope: "journal:verify",
    body: z.strictObject({ require_sealed: z.boolean().default(false) }).optional(),
    answers: {
      200: z.object({
        ok: z.boolean(),
        total: z.number(),
        findings: z.array(json),
        counts: z.record(z.string(), z.number()),
        last_seal: z.object({ n: z.number(), at: timeSchema }).nullable(),
      }),
    },
    whenLost: "none",
    async handle({ runtime, office, body }) {
      if (verifying.has(office))
        throw new HoldpointError("rate_limited", "The journal is being verified already.", {
          details: { retry_after: 5 },
        });
      verifying.add(office);
      try {
        const keys = await runtime.knownKeys();
        const requireSealed = body?.require_sealed ?? false;
        const report = await verifyStore(runtime, { keys, requireSealed, most: MOST_VERIFIED });
        const { lastSeal, total, findings, counts } = report;
        const at = timeOrNull(lastSeal?.at);
        const last_seal = lastSeal === undefined ? null : { n: lastSeal.n, at };
        return ok({ ok: report.ok, total, findings, counts, last_seal });
      } finally {
        verifying.delete(office);
      }
    },
  }),
];

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
