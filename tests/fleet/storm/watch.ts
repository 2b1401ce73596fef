/** The whole journal, read from its beginning: its chains verified, its streams folded, and how far budgets ever went. */

import type { ApprovalState } from "../../../src/approvals/state.ts";
import type { BudgetStreamState } from "../../../src/budgets/stream.ts";
import type { ActionState } from "../../../src/effects/state.ts";
import type { Header } from "../../../src/journal/entry.ts";
import { startVerification } from "../../../src/journal/verify.ts";
import type { JsonObject } from "../../../src/kernel/json.ts";
import { parseStreamRef } from "../../../src/kernel/stream.ts";
import { emptyHead, foldEntry, type Head } from "../../../src/stores/head.ts";
import type { JournalEntry, Store } from "../../../src/stores/store.ts";
import { FOLDS } from "../../../src/streams.ts";
import type { WorkflowState } from "../../../src/workflows/state.ts";
import type { Happened } from "../../crash/workflow/watch.ts";

const PAGE = 1_000;
const TENANT = "default";

export type Journal = {
  readonly actions: Map<string, ActionState>;
  readonly approvals: Map<string, ApprovalState>;
  readonly workflows: Map<string, WorkflowState>;
  readonly budgets: Map<string, BudgetStreamState>;
  /** What happened to each workflow, in order. */
  readonly histories: Map<string, Happened[]>;
  /** The terminal decisions that were written to each approval. */
  readonly decisions: Map<string, string[]>;
  /** Times at which a budget held more than its limit. */
  readonly overruns: string[];
};

export type JournalReader = Journal & {
  entries(): number;
  /** Takes in what was added; answers what is wrong with it. */
  read(store: Store): Promise<readonly string[]>;
};

const DECISIVE = [
  "approval.approved",
  "approval.modified",
  "approval.rejected",
  "approval.expired",
  "approval.cancelled",
];

export const emptyJournal = (): Journal => ({
  actions: new Map(),
  approvals: new Map(),
  workflows: new Map(),
  budgets: new Map(),
  histories: new Map(),
  decisions: new Map(),
  overruns: [],
});

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function keep(journal: Journal, header: Header, state: unknown, body: JsonObject): void {
  const { kind, id } = parseStreamRef(header.stream);
  if (kind === "action") journal.actions.set(id, state as ActionState);
  if (kind === "approval") journal.approvals.set(id, state as ApprovalState);
  if (kind === "workflow") journal.workflows.set(id, state as WorkflowState);
  if (kind === "workflow") add(journal.histories, id, { type: header.type, body });
  if (DECISIVE.includes(header.type)) add(journal.decisions, id, header.type);
  if (kind !== "budget") return;
  const budget = state as BudgetStreamState;
  journal.budgets.set(id, budget);
  if (budget.limit !== null && budget.spent + budget.reserved > budget.limit.micros)
    journal.overruns.push(`${id} held ${budget.spent + budget.reserved} at entry ${header.seq}`);
}

export function readJournal(): JournalReader {
  const journal = emptyJournal();
  const heads = new Map<string, Head>();
  const verification = startVerification({ tenant: TENANT, seals: [], keys: [] });
  let position = 0;
  let count = 0;
  let found = 0;
  const take = (entry: JournalEntry) => {
    verification.entry(entry);
    const header = JSON.parse(entry.header) as Header;
    const { kind } = parseStreamRef(header.stream);
    const head = foldEntry(FOLDS, kind, heads.get(header.stream) ?? emptyHead(FOLDS, kind), entry);
    heads.set(header.stream, head);
    keep(journal, header, head.state, JSON.parse(entry.body ?? "{}") as JsonObject);
    ({ position } = entry);
    count++;
  };
  return {
    ...journal,
    entries: () => count,
    async read(store) {
      for (;;) {
        const page = await store.log(TENANT, position, PAGE);
        for (const entry of page) take(entry);
        if (page.length < PAGE) break;
      }
      const { findings, total } = verification.finish();
      const wrong = findings.slice(found).map(({ kind, what }) => `${kind}: ${what}`);
      found = total;
      return wrong;
    },
  };
}
