/** Everything that can be checked of a store at rest: the file, the journal by both verifiers, the views, the money. */
import { spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { approval } from "../../src/approvals/stream.ts";
import { action } from "../../src/effects/stream.ts";
import { type Holdpoint, isHoldpointError } from "../../src/index.ts";
import type { Projection, Store } from "../../src/stores/store.ts";
import type { SavedSeal } from "../../src/verify.ts";
import type { Received } from "./effects.ts";
import type { JournalWatch } from "./journal-watch.ts";
import { BUDGET, COST } from "./tools.ts";

const VERIFIER = join(import.meta.dirname, "../../verifier/verify.mjs");
const TENANT = "default";
const PAGE = 1_000;

/** SQLite's own word on the file, and the rows that transactional tools wrote beside the journal. */
export function readFile(folder: string): {
  readonly wrong: readonly string[];
  readonly rows: readonly Received[];
} {
  const db = new DatabaseSync(join(folder, "journal.db"), { readOnly: true });
  try {
    const said = db
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => String(row["integrity_check"]));
    const wrong = said.join() === "ok" ? [] : said.map((line) => `integrity_check: ${line}`);
    const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'booked'").get() !== undefined;
    const rows = isThere ? db.prepare("SELECT effect, tool, args FROM booked").all() : [];
    const received = rows.map((row) => ({
      at: 0,
      mode: "table" as const,
      tool: String(row["tool"]),
      key: String(row["effect"]),
      args: String(row["args"]),
      outcome: "applied" as const,
    }));
    return { wrong, rows: received };
  } finally {
    db.close();
  }
}

async function checkOffline(hp: Holdpoint, file: string): Promise<readonly string[]> {
  const lines = async function* () {
    for await (const line of hp.journal.export()) yield `${line}\n`;
  };
  await pipeline(lines, createWriteStream(file));
  const { status, stdout, stderr } = spawnSync(process.execPath, [VERIFIER, file], { encoding: "utf8" });
  return status === 0 ? [] : [`verify.mjs ended with ${status}: ${stdout}${stderr}`.slice(0, 2_000)];
}

export async function checkJournal(
  hp: Holdpoint,
  root: string,
  seal: SavedSeal | undefined,
): Promise<readonly string[]> {
  const { findings } = await hp.journal.verify(seal === undefined ? {} : { savedSeal: seal });
  const wrong = findings
    .slice(0, 20)
    .map(({ kind, what, stream }) => `verify: ${kind} ${stream ?? ""} ${what}`);
  return [...wrong, ...(await checkOffline(hp, join(root, "export.ndjson")))];
}

type AnyProjection = Pick<Projection, "view"> & {
  row(id: string, state: never): { readonly bucket: string; readonly data: object } | undefined;
};

async function rowsOf(store: Store, view: string): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  for (let after = {}; ; ) {
    const page = await store.query(TENANT, { view, limit: PAGE, ...after });
    for (const { stream, bucket, at, data } of page)
      rows.set(stream.id, JSON.stringify({ bucket, at, data }));
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return rows;
    after = { after: { at: last.at, stream: `${last.stream.kind}/${last.stream.id}` } };
  }
}

async function checkView(
  store: Store,
  projection: AnyProjection,
  states: ReadonlyMap<string, unknown>,
): Promise<readonly string[]> {
  const shown = await rowsOf(store, projection.view);
  const wrong: string[] = [];
  for (const [id, state] of states) {
    const row = projection.row(id, state as never) as
      | { bucket: string; at: number; data: object }
      | undefined;
    const expected =
      row === undefined ? undefined : JSON.stringify({ bucket: row.bucket, at: row.at, data: row.data });
    if (!isSame(shown.get(id), expected))
      wrong.push(`${projection.view}: ${id} is shown as ${shown.get(id)}`);
  }
  if (shown.size > states.size)
    wrong.push(`${projection.view}: ${shown.size} rows for ${states.size} streams`);
  return wrong.slice(0, 20);
}

/** Keys may come back in another order. */
function isSame(shown: string | undefined, expected: string | undefined): boolean {
  if (shown === expected) return true;
  if (shown === undefined || expected === undefined) return false;
  return sorted(shown) === sorted(expected);
}

const sorted = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

export async function checkViews(store: Store, journal: JournalWatch): Promise<readonly string[]> {
  const wrong = await Promise.all([
    ...action.views.map((view) => checkView(store, view, journal.actions)),
    ...approval.views.map((view) => checkView(store, view, journal.approvals)),
  ]);
  return wrong.flat();
}

/** What effects have taken from the budget is what it says was spent and is reserved. */
export function checkBudget({ actions, budgets }: JournalWatch): readonly string[] {
  const budget = budgets.get(BUDGET);
  if (budget === undefined) return ["the budget is not there"];
  const taken = { applied: 0n, reserved: 0n };
  for (const state of actions.values()) {
    if (!("effect" in state) || state.effect === null || state.effect.costs.length === 0) continue;
    if (state.phase === "applied") taken.applied += COST.amount.micros;
    if (state.phase === "running" || state.phase === "in_doubt") taken.reserved += COST.amount.micros;
  }
  const wrong: string[] = [];
  if (budget.spent !== taken.applied)
    wrong.push(`the budget spent ${budget.spent} and effects took ${taken.applied}`);
  if (budget.reserved !== taken.reserved)
    wrong.push(`the budget reserves ${budget.reserved} and effects under way need ${taken.reserved}`);
  if (budget.limit !== null && budget.spent + budget.reserved > budget.limit.micros)
    wrong.push("the budget was overrun");
  return wrong;
}

/** undefined while there is no outcome. */
const receiptStatus = (hp: Holdpoint, id: string): Promise<string | undefined> =>
  hp.receipts.get(id).then(
    ({ status }) => status,
    (error: unknown) => {
      if (isHoldpointError(error, "wrong_state")) return undefined;
      throw error;
    },
  );

/** Receipts as the library gives them out say what the journal says. */
export async function checkReceipts(hp: Holdpoint, { actions }: JournalWatch): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [id, state] of actions) {
    const status = await receiptStatus(hp, id);
    const expected = "outcome" in state ? state.phase : undefined;
    if (status !== expected) wrong.push(`${id} is ${state.phase} and its receipt says ${status}`);
  }
  return wrong.slice(0, 20);
}
