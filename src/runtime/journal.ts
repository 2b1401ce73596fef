/** Reads the journal: by page, by stream, by id, as an export, and to verify it. */

import type { ApprovalQuestion } from "../approvals/state.ts";
import { findAction } from "../effects/actions.ts";
import { requestName } from "../effects/rules/propose.ts";
import { exportLine } from "../journal/export.ts";
import type { PublicJwk } from "../journal/jws.ts";
import { type Report, startVerification } from "../journal/verify.ts";
import type { Finding, SavedSeal } from "../journal/verify-seals.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { LISTED_KINDS } from "../kernel/registry.ts";
import {
  actionStream,
  approvalStream,
  intentStream,
  type StreamRef,
  streamName,
  workflowStream,
} from "../kernel/stream.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import type { JournalRecord } from "./contract.ts";
import { logEntries, logPages } from "./subscribe.ts";

const MOST_FINDINGS = 1_000;

export function parseRecord(entry: JournalEntry): JournalRecord {
  const { position, stream, seq, type, at, hash } = entry;
  const body = entry.body === null ? null : (JSON.parse(entry.body) as Json);
  return { position, stream, seq, type, at, hash, body };
}

type StreamSelection = {
  readonly streams: readonly StreamRef[];
  readonly only?: (record: JournalRecord) => boolean;
};

const textField = ({ body }: JournalRecord, name: string): string | undefined => {
  const value = isJsonObject(body) ? body[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

async function recordsOf(place: TenantStore, stream: StreamRef): Promise<readonly JournalRecord[]> {
  return (await place.store.read(place.tenant, stream)).map(parseRecord);
}

/** The streams of an action and its approvals. */
async function streamsOfAction(place: TenantStore, action: string): Promise<readonly StreamRef[]> {
  const records = await recordsOf(place, actionStream(action));
  const approvals = records.flatMap((record) =>
    record.type === "action.reviewed" ? (textField(record, "approval") ?? []) : [],
  );
  return [actionStream(action), ...[...new Set(approvals)].map(approvalStream)];
}

/** The streams of a workflow, its actions, its questions and its children. */
async function streamsOfWorkflow(place: TenantStore, id: string): Promise<readonly StreamRef[]> {
  const streams: StreamRef[] = [workflowStream(id)];
  for (const record of await recordsOf(place, workflowStream(id))) {
    const { type } = record;
    if (type === "call.made" || type === "compensation.made")
      streams.push(...(await streamsOfAction(place, textField(record, "action") ?? "")));
    if (["checkpoint.reached", "checkpoint.raised", "question.asked"].includes(type))
      streams.push(approvalStream(textField(record, "approval") ?? ""));
    if (type === "child.spawned")
      streams.push(...(await streamsOfWorkflow(place, textField(record, "child") ?? "")));
  }
  return streams;
}

/** The streams of an approval and its action, or the entries of its workflow that concern it. */
async function selectApprovalStreams(place: TenantStore, id: string): Promise<StreamSelection> {
  const [first] = await recordsOf(place, approvalStream(id));
  if (first === undefined) throw new HoldpointError("unknown_id", `There is no approval ${id}.`);
  const { action, subject } = (first.body ?? {}) as unknown as Partial<ApprovalQuestion>;
  if (subject === undefined)
    return { streams: action === undefined ? [approvalStream(id)] : await streamsOfAction(place, action) };
  if (subject.kind === "intent") return { streams: [approvalStream(id), intentStream(subject.intent)] };
  const isOwn = (record: JournalRecord) => record.stream === streamName(approvalStream(id));
  return {
    streams: [approvalStream(id), workflowStream(subject.workflow)],
    only: (record) => isOwn(record) || textField(record, "approval") === id,
  };
}

/** The streams of an intent, and of its approval if it is a question to people. */
async function streamsOfIntent(place: TenantStore, id: string): Promise<readonly StreamRef[]> {
  const [first] = await recordsOf(place, intentStream(id));
  if (first === undefined) throw new HoldpointError("unknown_id", `There is no intent ${id}.`);
  const approval = textField(first, "approval");
  return [intentStream(id), ...(approval === undefined ? [] : [approvalStream(approval)])];
}

/** The streams with the history of an id. */
async function selectStreams(place: TenantStore, id: string): Promise<StreamSelection> {
  const { kind = "action" } = LISTED_KINDS.find(({ prefix }) => id.startsWith(`${prefix}_`)) ?? {};
  switch (kind) {
    case "action":
      return { streams: await streamsOfAction(place, await findAction(place, id)) };
    case "approval":
      return selectApprovalStreams(place, id);
    case "intent":
      return { streams: await streamsOfIntent(place, id) };
    case "workflow":
      return { streams: await streamsOfWorkflow(place, id) };
    default:
      return { streams: [{ kind, id }] };
  }
}

/** Everything about an action, an approval or a workflow, in commit order. */
export async function readJournal(place: TenantStore, id: string): Promise<readonly JournalRecord[]> {
  const { streams, only } = await selectStreams(place, id);
  const all = (await Promise.all(streams.map((stream) => recordsOf(place, stream)))).flat();
  const records = only === undefined ? all : all.filter(only);
  if (records.length === 0) throw new HoldpointError("unknown_id", `There is nothing under "${id}".`);
  return records.sort((a, b) => a.position - b.position);
}

/** Lines of an export. Seals are read first: one made in between would cover entries that are not in the export. */
export async function* exportJournal(place: TenantStore, keys: readonly PublicJwk[]): AsyncGenerator<string> {
  const { tenant, store } = place;
  yield exportLine({ holdpoint: "export", v: 1, tenant, incarnation: store.incarnation });
  for (const key of keys) yield exportLine({ key });
  const seals = await store.seals(tenant);
  for (const seal of seals) yield exportLine({ seal });
  let entries = 0;
  for await (const entry of logEntries(place)) {
    entries++;
    yield exportLine({ entry });
  }
  yield exportLine({ end: { entries, seals: seals.length } });
}

export type VerifyOptions = {
  readonly keys: readonly PublicJwk[];
  readonly savedSeal?: SavedSeal;
  readonly requireSealed?: boolean;
  /** Throws if the tenant has more entries than this. Default: no limit. */
  readonly most?: number;
  readonly progress?: (entries: number) => void;
};

function tooLong(): HoldpointError {
  return new HoldpointError("payload_too_large", "The journal is too long to be verified in one request.", {
    data: "What was looked at so far says nothing about the whole.",
    next: "Run `holdpoint verify` on the store, or verify an export.",
  });
}

export async function verifyStore(place: TenantStore, options: VerifyOptions): Promise<Report> {
  const { keys, savedSeal, requireSealed = false } = options;
  const seals = await place.store.seals(place.tenant);
  const saved = savedSeal === undefined ? {} : { savedSeal };
  const verification = startVerification({ tenant: place.tenant, seals, keys, requireSealed, ...saved });
  const unnamed = { total: 0, findings: [] as Finding[] };
  let seen = 0;
  for await (const page of logPages(place)) {
    if (seen + page.length > (options.most ?? Number.POSITIVE_INFINITY)) throw tooLong();
    for (const entry of page) {
      verification.entry(entry);
      if (++seen % 10_000 === 0) options.progress?.(seen);
    }
    const found = await findUnnamed(place, page);
    unnamed.total += found.length;
    if (unnamed.findings.length < MOST_FINDINGS) unnamed.findings.push(...found);
  }
  return withFindings(verification.finish(), unnamed);
}

function withFindings(report: Report, more: Pick<Report, "findings" | "total">): Report {
  const total = report.total + more.total;
  const findings = [...report.findings, ...more.findings].slice(0, MOST_FINDINGS);
  return { ...report, ok: total === 0, findings, total };
}

/** A request id whose name does not lead to its action would run again, and names are not in the hash chains. */
async function findUnnamed(
  { store, tenant }: TenantStore,
  page: readonly JournalEntry[],
): Promise<Finding[]> {
  const proposed = page.flatMap(requestOf);
  if (proposed.length === 0) return [];
  const names = proposed.map(({ name }) => name);
  const found = await store.transact(tenant, { names }, (sight) => ({
    kind: "commit",
    append: [],
    result: names.map((name) => sight.name(name)),
  }));
  return proposed.flatMap(({ name, stream, seq }, index) => {
    const ref = found[index];
    if (ref !== undefined && streamName(ref) === stream) return [];
    return [{ kind: "name_missing", stream, seq, what: `The name "${name}" does not lead to this action.` }];
  });
}

/** An erased or damaged entry names no request; verification finds a damaged one by its hash. */
function requestOf({ type, stream, seq, body }: JournalEntry) {
  if (body === null || type !== "action.proposed") return [];
  try {
    const { requestId } = JSON.parse(body) as { requestId?: unknown };
    if (typeof requestId !== "string" || !requestId.isWellFormed()) return [];
    return [{ name: requestName(requestId), stream, seq }];
  } catch {
    return [];
  }
}
