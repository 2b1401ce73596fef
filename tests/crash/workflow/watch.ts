/** Reads the journal as it grows: verifies its chains, folds its streams, and keeps what workflows did in order. */

import type { ApprovalState } from "../../../src/approvals/state.ts";
import type { ActionState } from "../../../src/effects/state.ts";
import type { Header } from "../../../src/journal/entry.ts";
import { startVerification } from "../../../src/journal/verify.ts";
import type { JsonObject } from "../../../src/kernel/json.ts";
import type { StreamKind } from "../../../src/kernel/registry.ts";
import { parseStreamRef } from "../../../src/kernel/stream.ts";
import type { EpochState } from "../../../src/runtime/stream.ts";
import { emptyHead, foldEntry, type Head } from "../../../src/stores/head.ts";
import type { JournalEntry, Store } from "../../../src/stores/store.ts";
import { FOLDS } from "../../../src/streams.ts";
import type { WorkflowState } from "../../../src/workflows/state.ts";

const PAGE = 1_000;
const TENANT = "default";

export type Happened = { readonly type: string; readonly body: JsonObject };
export type Watch = {
  readonly actions: Map<string, ActionState>;
  readonly approvals: Map<string, ApprovalState>;
  readonly epochs: Map<string, EpochState>;
  readonly workflows: Map<string, WorkflowState>;
  /** What happened to each workflow. */
  readonly histories: Map<string, Happened[]>;
  /** The process of each epoch. */
  readonly processes: Map<string, number>;
  entries(): number;
  /** Takes in what was added; answers what is wrong with it. */
  look(store: Store): Promise<readonly string[]>;
};

type Watched = "action" | "approval" | "epoch" | "workflow";
const isWatched = (kind: StreamKind): kind is Watched =>
  kind === "action" || kind === "approval" || kind === "epoch" || kind === "workflow";

export function watchWorkflows(): Watch {
  const heads = new Map<string, Head>();
  const states = { action: new Map(), approval: new Map(), epoch: new Map(), workflow: new Map() };
  const histories = new Map<string, Happened[]>();
  const processes = new Map<string, number>();
  const verification = startVerification({ tenant: TENANT, seals: [], keys: [] });
  let position = 0;
  let count = 0;
  let found = 0;
  let lane: Promise<unknown> = Promise.resolve();

  function take(entry: JournalEntry): void {
    verification.entry(entry);
    const { stream, type } = JSON.parse(entry.header) as Header;
    const { kind, id } = parseStreamRef(stream);
    const head = foldEntry(FOLDS, kind, heads.get(stream) ?? emptyHead(FOLDS, kind), entry);
    heads.set(stream, head);
    if (isWatched(kind)) states[kind].set(id, head.state);
    const body = JSON.parse(entry.body ?? "{}") as JsonObject;
    if (kind === "workflow") {
      const history = histories.get(id) ?? [];
      histories.set(id, history);
      history.push({ type, body });
    }
    if (type === "epoch.opened") processes.set(id, Number(String(body["process"]).split("/")[1]));
    ({ position } = entry);
    count++;
  }

  async function lookOnce(store: Store): Promise<readonly string[]> {
    for (;;) {
      const page = await store.log(TENANT, position, PAGE);
      for (const entry of page) take(entry);
      if (page.length < PAGE) break;
    }
    const { findings, total } = verification.finish();
    const wrong = findings.slice(found).map(({ kind, what }) => `${kind}: ${what}`);
    found = total;
    return wrong;
  }

  return {
    actions: states.action,
    approvals: states.approval,
    epochs: states.epoch,
    workflows: states.workflow,
    histories,
    processes,
    entries: () => count,
    look(store) {
      const looked = lane.then(() => lookOnce(store));
      lane = looked.catch(() => undefined);
      return looked;
    },
  };
}
