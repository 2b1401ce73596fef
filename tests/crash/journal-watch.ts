/** Reads the journal as it grows: verifies its chains, folds its streams, and sees when something of it has gone. */

import type { ApprovalState } from "../../src/approvals/state.ts";
import type { BudgetStreamState } from "../../src/budgets/stream.ts";
import type { ActionState } from "../../src/effects/state.ts";
import type { Header } from "../../src/journal/entry.ts";
import { startVerification } from "../../src/journal/verify.ts";
import { parseStreamRef } from "../../src/kernel/stream.ts";
import { emptyHead, foldEntry, type Head } from "../../src/stores/head.ts";
import type { JournalEntry, Store } from "../../src/stores/store.ts";
import { FOLDS } from "../../src/streams.ts";
import type { States } from "./acknowledged.ts";

const PAGE = 1_000;
const TENANT = "default";

export type EpochSeen = { readonly process: number; readonly died: boolean };

export type JournalWatch = States & {
  readonly actions: Map<string, ActionState>;
  readonly approvals: Map<string, ApprovalState>;
  readonly budgets: Map<string, BudgetStreamState>;
  readonly epochs: ReadonlyMap<string, EpochSeen>;
  entries(): number;
  /** Takes in what was added; answers what is wrong with it, and whether the last known entry is still there. */
  look(store: Store): Promise<readonly string[]>;
};

function epochSeen(before: EpochSeen | undefined, { type }: Header, body: string | null): EpochSeen {
  const owner =
    type === "epoch.opened" ? (JSON.parse(body ?? "{}") as { process?: string }).process : undefined;
  return {
    process: owner === undefined ? (before?.process ?? -1) : Number(owner.split("/")[1]),
    died: before?.died === true || type === "epoch.died",
  };
}

export function watchJournal(): JournalWatch {
  const heads = new Map<string, Head>();
  const actions = new Map<string, ActionState>();
  const approvals = new Map<string, ApprovalState>();
  const budgets = new Map<string, BudgetStreamState>();
  const epochs = new Map<string, EpochSeen>();
  const verification = startVerification({ tenant: TENANT, seals: [], keys: [] });
  let last: JournalEntry | undefined;
  let count = 0;
  let found = 0;

  function take(entry: JournalEntry): void {
    verification.entry(entry);
    const header = JSON.parse(entry.header) as Header;
    const { kind, id } = parseStreamRef(header.stream);
    const head = foldEntry(FOLDS, kind, heads.get(header.stream) ?? emptyHead(FOLDS, kind), entry);
    heads.set(header.stream, head);
    if (kind === "action") actions.set(id, head.state as ActionState);
    if (kind === "approval") approvals.set(id, head.state as ApprovalState);
    if (kind === "budget") budgets.set(id, head.state as BudgetStreamState);
    if (kind === "epoch") epochs.set(id, epochSeen(epochs.get(id), header, entry.body));
    last = entry;
    count++;
  }

  async function isThere(store: Store): Promise<boolean> {
    if (last === undefined) return true;
    const [entry] = await store.log(TENANT, last.position - 1, 1);
    return entry?.hash === last.hash;
  }

  return {
    actions,
    approvals,
    budgets,
    epochs,
    entries: () => count,
    async look(store) {
      const wrong = (await isThere(store)) ? [] : [`the entry at position ${last?.position} is gone`];
      for (;;) {
        const page = await store.log(TENANT, last?.position ?? 0, PAGE);
        for (const entry of page) take(entry);
        if (page.length < PAGE) break;
      }
      const { findings, total } = verification.finish();
      wrong.push(...findings.slice(found).map(({ kind, what }) => `${kind}: ${what}`));
      found = total;
      return wrong;
    },
  };
}
