/** What clients do while nodes are replaced: they start orders, and people decide at whichever server answers. */
import { setTimeout as sleep } from "node:timers/promises";
import { createWorkflow } from "../../../src/core/workflow/create.ts";
import { wallClock } from "../../../src/engine/clock.ts";
import { runCommand } from "../../../src/engine/run-command.ts";
import { freshId } from "../../../src/engine/runtime.ts";
import type { Store } from "../../../src/stores/store.ts";

export type Servers = { readonly urls: (string | null)[] };

export type Load = {
  /** Orders that were acknowledged, by number. */
  readonly started: Map<number, string>;
  /** Decisions that were acknowledged. */
  readonly decided: Set<string>;
  /** What was answered with an error, or not at all, and asked again elsewhere. */
  readonly turnedAway: Map<string, number>;
  /** Approvals that people have seen and left for later. */
  readonly left: ReadonlySet<string>;
  /** From now on nothing is left for later. */
  hurry(): void;
  stop(): Promise<void>;
};

const MOST_OPEN = 40;
/** As many as are seen first: they wait while nodes are replaced, whatever else is decided meanwhile. */
export const LEFT = 3;

type Made = { readonly store: Store; readonly random: (bytes: number) => Uint8Array };

const BODY = {
  name: "order",
  description: "",
  version: null,
  agent: "agent:server",
  requester: ["agent:server"],
  parties: { poster: null, executor: null, supervisor: null },
  escrow: null,
  complexity: null,
  checkpoints: [],
  attempts: 5,
  rollbackEnabled: false,
  onIrreversible: "fail",
  parent: null,
  fork: null,
} as const;

/** Durable when it comes back; whoever has the definition takes it. */
export async function startOrder(made: Made, n: number, receiver: string): Promise<string> {
  const workflow = freshId({ clock: wallClock, random: made.random }, "wf");
  const place = { store: made.store, tenant: "default", clock: wallClock };
  const creation = {
    workflow,
    requestId: `order ${n}`,
    epoch: null,
    body: { ...BODY, input: { n, receiver } },
  };
  const answer = await runCommand(place, {}, (draft) => createWorkflow(draft, creation));
  return answer.workflow;
}

type Asked = { readonly method: "GET" | "POST"; readonly path: string; readonly body?: unknown };

/** At any server, until one has an answer. */
async function askAny({ urls }: Servers, { method, path, body }: Asked, failed: (why: string) => void) {
  for (let at = Math.floor(Math.random() * urls.length), tries = 0; tries < 400; at++, tries++) {
    const url = urls[at % urls.length];
    if (url == null) {
      await sleep(20);
      continue;
    }
    try {
      const init =
        body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const answer = await fetch(`${url}${path}`, { method, ...init, signal: AbortSignal.timeout(10_000) });
      const text = await answer.text();
      if (answer.status < 500)
        return { status: answer.status, body: JSON.parse(text) as Record<string, unknown> };
      failed(`${answer.status} ${(JSON.parse(text) as { code?: string }).code}`);
    } catch {
      failed("no answer");
    }
    await sleep(20);
  }
  throw new Error(`nobody answers ${path}`);
}

export function startLoad(
  made: Made,
  servers: Servers,
  { receiver, perSecond }: { readonly receiver: string; readonly perSecond: number },
): Load {
  const over = new AbortController();
  const started = new Map<number, string>();
  const decided = new Set<string>();
  const turnedAway = new Map<string, number>();
  const left = new Set<string>();
  let isHurried = false;
  const isForLater = (id: string): boolean => {
    if (isHurried) return false;
    if (left.size < LEFT) left.add(id);
    return left.has(id);
  };
  const failed = (why: string) => void turnedAway.set(why, (turnedAway.get(why) ?? 0) + 1);
  const begin = async () => {
    for (let n = 1; !over.signal.aborted; n++) {
      // Clients do not run ahead of a machine that is slow: the load is what it can carry.
      while (started.size - decided.size > MOST_OPEN && !over.signal.aborted) await sleep(20);
      await Promise.all([
        startOrder(made, n, receiver).then((id) => started.set(n, id)),
        sleep(1_000 / perSecond),
      ]);
    }
  };
  const decide = async (id: string) => {
    const body = { decision: "approve", approved_by: "person:ann" };
    const path = `/api/approvals/${id}/votes`;
    const { status } = await askAny(servers, { method: "POST", path, body }, failed);
    if (status >= 300) throw new Error(`a decision was answered with ${status}`);
    decided.add(id);
  };
  const people = async () => {
    while (!over.signal.aborted || decided.size < started.size) {
      const list = { method: "GET", path: "/api/approvals?status=pending&limit=50" } as const;
      const { body } = await askAny(servers, list, failed);
      const items = (body["approvals"] ?? body["items"] ?? []) as readonly { readonly request_id: string }[];
      await Promise.all(
        items
          .map(({ request_id }) => request_id)
          .filter((id) => !decided.has(id) && !isForLater(id))
          .map(decide),
      );
      await sleep(50);
    }
  };
  const done = Promise.all([begin(), people()]);
  done.catch(() => undefined);
  return {
    started,
    decided,
    turnedAway,
    left,
    hurry() {
      isHurried = true;
    },
    async stop() {
      isHurried = true;
      over.abort();
      await done;
    },
  };
}
