/** Implementation of the verbs of the journal and of nodes; and what only the library has: export, seals, views. */
import { readPublicJwk } from "../journal/jws.ts";
import type { Seal } from "../journal/seal.ts";
import type { Report } from "../journal/verify.ts";
import type { SavedSeal } from "../journal/verify-seals.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkListener, rejectInput } from "../kernel/fields.ts";
import { STREAM_KINDS } from "../kernel/registry.ts";
import { findStreamRef, type StreamRef } from "../kernel/stream.ts";
import type { JournalEntry, Rebuilt, TenantStore } from "../stores/store.ts";
import { type JournalVerbs, journal, nodes } from "./contract.ts";
import { listNodes } from "./epochs.ts";
import { exportJournal, parseRecord, readJournal, type VerifyOptions, verifyStore } from "./journal.ts";
import { getSavedSeal, sealTenant } from "./keyring.ts";
import { fillPage } from "./lists.ts";
import type { Runtime, RuntimeOpener } from "./runtime.ts";
import { logEntries } from "./subscribe.ts";
import { bindLibrary, capability, readVerb, runVerb } from "./verb.ts";

/** Entries read at a time, before it is known whether they fit the page. */
const BATCH = 50;
/** Of its header, hash and salt. */
const BESIDE_BODY = 400;
const weightOf = ({ body }: JournalEntry): number => (body?.length ?? 0) + BESIDE_BODY;

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

/** Limited to safe integers. */
function positionAfter(cursor = "0"): number {
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : rejectInput("The cursor is not a position.");
}

function streamNamed(kind: string, id: string): StreamRef {
  return (
    findStreamRef(`${kind}/${id}`) ??
    rejectInput(`The kind of a stream is one of ${STREAM_KINDS.join(", ")}.`)
  );
}

/** Most entries verified per request of a server. More would take hours: the library has no limit. */
const MOST_VERIFIED = 1_000_000;
const verifying = new WeakSet<Runtime>();

async function verifyOnce(runtime: Runtime, options: VerifyOptions): Promise<Report> {
  if (verifying.has(runtime))
    throw new HoldpointError("rate_limited", "The journal is being verified already.", {
      details: { retry_after: 5 },
    });
  verifying.add(runtime);
  try {
    return await verifyStore(runtime, options);
  } finally {
    verifying.delete(runtime);
  }
}

export const journalVerbs = capability(journal, {
  list: readVerb(async (runtime, { limit = 100, after }) => {
    const entries = logEntries(runtime, positionAfter(after), BATCH);
    const { rows, isCut } = await fillPage(entries, limit, weightOf);
    return { items: rows.map(parseRecord), next: isCut ? String(rows.at(-1)?.position) : null };
  }),
  stream: readVerb(async (runtime, { kind, id, fromSeq, limit }) => {
    const stream = streamNamed(kind, id);
    const { rows, isCut } = await fillPage(streamEntries(runtime, stream, fromSeq), limit, weightOf);
    if (rows.length === 0 && fromSeq === 1)
      throw new HoldpointError("unknown_id", `There is no stream ${kind}/${id}.`);
    return { entries: rows.map(parseRecord), nextSeq: isCut ? fromSeq + rows.length : null };
  }),
  read: readVerb((runtime, { id }) => readJournal(runtime, id)),
  verify: runVerb(async ({ runtime }, { requireSealed }) => {
    const keys = await runtime.knownKeys();
    const { lastSeal, ...report } = await verifyOnce(runtime, { keys, requireSealed, most: MOST_VERIFIED });
    return { ...report, lastSeal: lastSeal === undefined ? null : { n: lastSeal.n, at: lastSeal.at } };
  }),
});

export const nodeVerbs = capability(nodes, { list: readVerb(listNodes) });

function checkVerification<Given extends object>(options: Given): Given {
  const given: { keys?: unknown; savedSeal?: unknown; progress?: unknown; requireSealed?: unknown } =
    checkFields("A verification", options, ["keys", "savedSeal", "requireSealed", "progress"]);
  const { keys, savedSeal, progress, requireSealed } = given;
  if (requireSealed !== undefined && typeof requireSealed !== "boolean")
    rejectInput("requireSealed is true or false.");
  const isKey = (key: unknown) => readPublicJwk(key) !== undefined;
  if (keys !== undefined && !(Array.isArray(keys) && keys.every(isKey)))
    rejectInput("Keys are a list of public Ed25519 keys as JWK.");
  const saved = savedSeal as { jws?: unknown; key?: unknown } | null | undefined;
  if (saved !== undefined && !(typeof saved?.jws === "string" && isKey(saved.key)))
    rejectInput("A saved seal is { jws, key }, as seals.save() answered it.");
  checkListener(progress);
  return options;
}

export type Journal = Omit<JournalVerbs, "verify"> & {
  /** Lines of NDJSON for the separate verifier. */
  export(): AsyncGenerator<string>;
  /** Of any length; also with keys and a saved seal of the caller's. */
  verify(options?: Partial<VerifyOptions>): Promise<Report>;
  rebuildViews(progress?: (done: number, total: number) => void): Promise<Rebuilt>;
};

export function journalOf(open: RuntimeOpener): Journal {
  return {
    ...bindLibrary(open, journalVerbs),
    async *export() {
      const runtime = await open();
      yield* exportJournal(runtime, await runtime.knownKeys());
    },
    async verify(options = {}) {
      checkVerification(options);
      const runtime = await open();
      return verifyStore(runtime, { ...options, keys: options.keys ?? (await runtime.knownKeys()) });
    },
    async rebuildViews(progress) {
      checkListener(progress);
      return (await open()).store.rebuildViews(progress);
    },
  };
}

export type Seals = {
  /** Seals what was written since the last seal; undefined if nothing was. */
  create(): Promise<Seal | undefined>;
  /** Seals now and returns the last seal with its key, to save outside the store; undefined if there is no entry. */
  save(): Promise<SavedSeal | undefined>;
};

export function sealMethods(open: RuntimeOpener): Seals {
  return {
    create: async () => sealTenant(await open()),
    save: async () => getSavedSeal(await open()),
  };
}
