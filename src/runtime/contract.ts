/** Verbs of the journal and of nodes, with their routes and schemas. */
import { z } from "zod";
import { contract, type Library, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import { STREAM_KINDS } from "../kernel/registry.ts";
import { anyJson, jsonValue, spelled, timestamp } from "../kernel/values.ts";

const record = z.object({
  position: z.number().describe("in the store's commit order; rises, with gaps"),
  stream: z.string(),
  seq: z.number(),
  type: z.string(),
  at: timestamp,
  hash: z.string(),
  body: jsonValue.describe("null if it was erased"),
});
const records = z.array(record).readonly();
const MOST_ENTRIES = 1_000;

export const journal = contract({
  name: "journal",
  owner: "entry",
  verbs: {
    list: listVerb({
      http: "GET /api/journal",
      summary: "Entries of the tenant in commit order",
      filters: {},
      item: record,
      items: "entries",
      cursorName: () => "journal",
    }),
    stream: verb({
      http: "GET /api/journal/{kind}/{id}",
      summary: "One stream, oldest entry first",
      names: { kind: z.enum(STREAM_KINDS) },
      takes: "page",
      input: z.strictObject({
        fromSeq: z.int().min(1).default(1),
        limit: z.int().min(1).max(MOST_ENTRIES).default(100).describe(`how many, at most ${MOST_ENTRIES}`),
      }),
      output: z.object({ entries: records, nextSeq: z.number().nullable() }),
    }),
    read: plainVerb({
      http: "GET /api/history/{id}",
      call: "history",
      summary: "Everything about an action, an approval, a grant or a workflow, in commit order",
      output: records,
      wrap: "entries",
    }),
    verify: verb({
      http: "POST /api/journal/verify",
      scope: "journal:verify",
      whenLost: "none",
      summary: "Check every entry, chain and seal of the tenant; one at a time",
      takes: "options",
      input: z.strictObject({ requireSealed: z.boolean().default(false) }),
      output: z.object({
        ok: z.boolean(),
        total: z.number(),
        findings: z.array(anyJson).readonly(),
        counts: z.record(z.string(), z.number()),
        lastSeal: z.object({ n: z.number(), at: timestamp }).nullable(),
      }),
    }),
  },
});

const count = z.int().min(0);
const node = z.object({
  /** Id of its epoch. */
  id: spelled("epoch", z.string()),
  status: z
    .enum(["live", "lapsed", "closed", "died"])
    .describe("lapsed: it does not hold its epoch any more, and no process has ended it yet"),
  kind: z.string().describe("server, worker or program"),
  version: z.string().nullable(),
  agent: z.string(),
  process: z.string().describe("host/pid"),
  tenant: z.string(),
  /** By the store's clock. */
  openedAt: spelled("since", timestamp),
  endedAt: timestamp.nullable(),
  definitions: z
    .array(z.string())
    .readonly()
    .nullable()
    .describe("names of the workflows that it runs, as it began; null where it did not say"),
  workflows: count.describe("that it runs now; those that wait are not counted"),
  effects: count.describe("that it has started and that have not ended"),
});

export const nodes = contract({
  name: "nodes",
  owner: "node",
  tag: "server",
  scopes: "journal",
  door: "admin",
  verbs: {
    list: listVerb({
      http: "GET /api/nodes",
      summary: "The nodes of the tenant, newest first; those that are there unless all are asked for",
      description: "Times, and whether a lease holds, by the store's clock.",
      filters: { all: z.boolean().default(false).describe("those that have ended too") },
      item: node,
    }),
  },
});

export type JournalVerbs = Library<typeof journal>;
/** One entry in readable form. `body` is null if it was erased. */
export type JournalRecord = z.output<typeof record>;

/** A process that executes in a tenant. */
export type FleetNode = z.output<typeof node>;
/** `lapsed`: not ended, but it no longer holds its epoch. `closed`: it ended by itself. */
export type NodeStatus = FleetNode["status"];
export type NodePage = z.input<(typeof nodes)["verbs"]["list"]["input"]>;
export type NodeList = Awaited<ReturnType<Library<typeof nodes>["list"]>>;
