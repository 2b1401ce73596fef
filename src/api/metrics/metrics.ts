/**
 * Metrics for Prometheus: of requests as they are answered, of the journal by following it, and of this node. Checkpoints and
 * decisions are also logged.
 * - Journal figures cover the entries of all nodes, so every server reports the same: take the maximum, not the sum;
 *   their help text says so. Figures of a node are its own and add up.
 * - View counts cover the tenants that are open here, or one of them.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { questionEnds } from "../../approvals/state.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { approvalStream, parseStreamRef } from "../../kernel/stream.ts";
import { readState } from "../../runtime/store-access.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { Frame, Hub } from "../events/hub.ts";
import type { Log } from "../log.ts";
import type { AnsweredRequest } from "../server.ts";
import type { TenantHost, TenantHosts } from "../tenant-hosts.ts";

/** One tenant, or all tenants that are open here. */
export type MetricScope = { readonly tenant: string } | "all";

/** Work in progress on this node. */
type WorkInHand = {
  readonly workflows: number;
  readonly effects: number;
  /** Epochs it works under: one for each tenant that is open here. */
  readonly epochs: readonly string[];
  /** Time left of the lease that expires first; null without leases. */
  readonly leaseLeftMs: number | null;
};

type NodeFacts = {
  readonly kind: string;
  readonly version: string;
  readonly inHand: (whose: MetricScope) => Promise<WorkInHand>;
};

const NANOSECONDS = 1e9;
const SECOND_MS = 1_000;
/** One per process, even if a test runs several servers in it. */
const lag = monitorEventLoopDelay({ resolution: 10 });

function sinceLastAsked(): { readonly [statistic: string]: number } {
  const seen = { mean: lag.count === 0 ? 0 : lag.mean, p99: lag.percentile(99), max: lag.max };
  lag.reset();
  return seen;
}

function addProcess(registry: Registry, { kind, version }: NodeFacts): void {
  const info = new Gauge({
    name: "holdpoint_node_info",
    help: "What this node is; always 1",
    labelNames: ["kind", "version"],
    registers: [registry],
  });
  info.set({ kind, version }, 1);
  lag.enable();
  registry.registerMetric(
    new Gauge({
      name: "holdpoint_node_event_loop_lag_seconds",
      help: "How late this node came to what was due, since it was last asked",
      labelNames: ["statistic"],
      registers: [],
      collect() {
        for (const [statistic, value] of Object.entries(sinceLastAsked()))
          this.set({ statistic }, value / NANOSECONDS);
      },
    }),
  );
}

function addInHand(registry: Registry, { inHand }: NodeFacts, whose: MetricScope): void {
  const add = (name: string, help: string, read: (now: WorkInHand) => number | null) =>
    gauge(registry, { name, help, value: async () => read(await inHand(whose)) });
  add("holdpoint_node_workflows_running", "Workflows that this node runs now", ({ workflows }) => workflows);
  add("holdpoint_node_effects_running", "Effects that this node performs now", ({ effects }) => effects);
  add(
    "holdpoint_node_lease_seconds",
    "How long this node's lease lasts unless it is renewed",
    ({ leaseLeftMs }) => (leaseLeftMs === null ? null : leaseLeftMs / SECOND_MS),
  );
  registry.registerMetric(
    new Gauge({
      name: "holdpoint_node_epoch_info",
      help: "The epoch in whose name this node works, another after each lease that it lost; always 1",
      labelNames: ["epoch"],
      registers: [],
      async collect() {
        this.reset();
        for (const epoch of (await inHand(whose)).epochs) this.set({ epoch }, 1);
      },
    }),
  );
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MINUTE = 60;
const HOUR = 3_600;
/** People take from seconds to weeks. */
const WAITS = [1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 24 * HOUR, 72 * HOUR, 168 * HOUR];

/** Queried at every scrape. */
type MetricSources = {
  readonly inDoubt: (whose: MetricScope) => Promise<number>;
  readonly pending: (whose: MetricScope) => Promise<number>;
  readonly listeners: () => number;
  readonly holds: () => number;
  readonly node: NodeFacts;
};

/** Counters from the journal of a tenant. */
type JournalCounters = {
  checkpoint(outcome: string): void;
  decided(outcome: string, seconds: number): void;
  action(outcome: string): void;
};

export type Metrics = {
  answered(facts: AnsweredRequest): void;
  /** Counts for that tenant, and for the total. */
  of(tenant: string): JournalCounters;
  /** Includes the figures of the process. */
  text(whose: MetricScope): Promise<string>;
  readonly type: string;
};

type GaugeDefinition = {
  readonly name: string;
  readonly help: string;
  /** null: it is not reported now. */
  readonly value: () => number | null | Promise<number | null>;
};

function gauge(registry: Registry, { name, help, value }: GaugeDefinition): void {
  const asked = new Gauge({
    ...{ name, help, registers: [] },
    async collect() {
      const now = await value();
      if (now === null) this.remove();
      else this.set(now);
    },
  });
  registry.registerMetric(asked);
}

/** Ends the help text of figures that every server reports alike. */
const OF_ALL = "(of all nodes: take the max over servers, not the sum)";

type MetricRegistry = ReturnType<typeof openMetricRegistry>;

function openMetricRegistry({ inDoubt, pending, node }: MetricSources, whose: MetricScope) {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ["outcome"] as const;
  const checkpoints = new Counter({
    name: "holdpoint_checkpoints_total",
    help: `Checkpoints of workflows, by what came of them ${OF_ALL}`,
    ...{ labelNames, registers },
  });
  const latency = new Histogram({
    name: "holdpoint_approval_latency_seconds",
    help: `From the question to its end, by how it ended ${OF_ALL}`,
    buckets: WAITS,
    ...{ labelNames, registers },
  });
  const actions = new Counter({
    name: "holdpoint_actions_total",
    help: `Actions that ended, by how ${OF_ALL}`,
    ...{ labelNames, registers },
  });
  const doubt = `Effects in doubt: it is not known whether they happened ${OF_ALL}`;
  gauge(registry, { name: "holdpoint_effects_in_doubt", help: doubt, value: () => inDoubt(whose) });
  const waits = `Approvals that wait for people ${OF_ALL}`;
  gauge(registry, { name: "holdpoint_approvals_pending", help: waits, value: () => pending(whose) });
  addInHand(registry, node, whose);
  return { registry, checkpoints, latency, actions };
}

/** Figures of the process, for all callers. */
function ofProcess({ listeners, holds, node }: MetricSources) {
  const registry = new Registry();
  const requests = new Histogram({
    name: "holdpoint_http_request_duration_seconds",
    help: "How long requests took, by route and status",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers: [registry],
  });
  gauge(registry, {
    ...{ name: "holdpoint_event_listeners", help: "Open streams of events", value: listeners },
  });
  gauge(registry, { name: "holdpoint_held_requests", help: "Requests that wait", value: holds });
  addProcess(registry, node);
  return { registry, requests };
}

export function createMetrics(standing: MetricSources): Metrics {
  const { registry, requests } = ofProcess(standing);
  const all = openMetricRegistry(standing, "all");
  const books = new Map<string, MetricRegistry>();
  const bookOf = (tenant: string): MetricRegistry => {
    const book = books.get(tenant) ?? openMetricRegistry(standing, { tenant });
    books.set(tenant, book);
    return book;
  };
  return {
    answered: ({ method, route, status, ms }) =>
      requests.observe({ method, route, status: String(status) }, ms / 1_000),
    of(tenant) {
      const both = [bookOf(tenant), all];
      return {
        checkpoint(outcome) {
          for (const { checkpoints } of both) checkpoints.inc({ outcome });
        },
        decided(outcome, seconds) {
          for (const { latency } of both) latency.observe({ outcome }, seconds);
        },
        action(outcome) {
          for (const { actions } of both) actions.inc({ outcome });
        },
      };
    },
    async text(whose) {
      const book = whose === "all" ? all : bookOf(whose.tenant);
      return `${await registry.metrics()}\n${await book.registry.metrics()}`;
    },
    type: registry.contentType,
  };
}

/** Names under which workflow runs and effects are performed; deliveries and monitors have others. */
const isWorkflow = (name: string): boolean => name.startsWith("workflow ");
const isEffect = (name: string): boolean => name.startsWith("act_");

type ViewTotals = {
  inDoubt(whose: MetricScope): Promise<number>;
  pending(whose: MetricScope): Promise<number>;
};

const hostsOf = async (
  tenants: Pick<TenantHosts, "open">,
  whose: MetricScope,
): Promise<readonly TenantHost[]> =>
  (await tenants.open()).filter(({ tenant }) => whose === "all" || whose.tenant === tenant);

/** Work in progress in this process. */
export async function readWorkInHand(
  tenants: Pick<TenantHosts, "open">,
  whose: MetricScope,
): Promise<WorkInHand> {
  const offices = await hostsOf(tenants, whose);
  const names = offices.flatMap(({ runtime }) => [...runtime.performing]);
  const epochs = (await Promise.all(offices.map(({ runtime }) => runtime.begunEpoch()))).flatMap(
    (epoch) => epoch ?? [],
  );
  const left = epochs.flatMap((epoch) => epoch.leaseLeftMs() ?? []);
  return {
    workflows: names.filter(isWorkflow).length,
    effects: names.filter(isEffect).length,
    epochs: epochs.map(({ id }) => id),
    leaseLeftMs: left.length === 0 ? null : Math.min(...left),
  };
}

export function readViewTotals(tenants: Pick<TenantHosts, "open">): ViewTotals {
  const total = async (whose: MetricScope, view: string, bucket: string): Promise<number> => {
    const offices = await hostsOf(tenants, whose);
    const counts = offices.map(({ runtime, tenant }) => runtime.store.count(tenant, view, bucket));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  return {
    inDoubt: (whose) => total(whose, "actions", "in_doubt"),
    pending: (whose) => total(whose, "approvals", "pending"),
  };
}

const ACTIONS: { readonly [type: string]: string } = {
  "effect.applied": "applied",
  "effect.not_applied": "not_applied",
  "effect.in_doubt": "in_doubt",
  "action.refused": "refused",
};
const CHECKPOINTS: { readonly [type: string]: string } = {
  "checkpoint.reached": "reached",
  "checkpoint.passed": "passed",
  "checkpoint.raised": "raised",
};
const field = (body: Json, name: string): string | null => {
  const value = isJsonObject(body) ? body[name] : undefined;
  return typeof value === "string" ? value : null;
};

function endOf({ type }: Frame): string | undefined {
  // The end of the question, not of the approval that was granted.
  return questionEnds.find((status) => type === `approval.${status}`);
}

type JournalWatch = { readonly tally: JournalCounters; readonly log: Log };

async function countEnd(
  place: TenantStore,
  frame: Frame,
  outcome: string,
  { tally, log }: JournalWatch,
): Promise<void> {
  const record = frame.record();
  const approval = await readState(place, approvalStream(parseStreamRef(record.stream).id));
  if (approval.status === "none") return;
  const seconds = Math.max(0, record.at - approval.requestedAt) / 1_000;
  tally.decided(outcome, seconds);
  log({
    level: "info",
    message: "approval",
    tenant: place.tenant,
    approval_id: parseStreamRef(record.stream).id,
    workflow_id: frame.workflow,
    checkpoint_name: approval.subject?.kind === "checkpoint" ? approval.tool : null,
    outcome,
    latency_seconds: seconds,
  });
}

async function countEvent(place: TenantStore, frame: Frame, watch: JournalWatch): Promise<void> {
  const { type, workflow } = frame;
  const { tally, log } = watch;
  const action = ACTIONS[type];
  if (action !== undefined) tally.action(action);
  const checkpoint = CHECKPOINTS[type];
  if (checkpoint !== undefined) {
    tally.checkpoint(checkpoint);
    const checkpoint_name = field(frame.record().body, "name");
    log({
      ...{ level: "info", message: "checkpoint", tenant: place.tenant },
      ...{ workflow_id: workflow, checkpoint_name, outcome: checkpoint },
    });
  }
  const end = endOf(frame);
  if (end !== undefined) await countEnd(place, frame, end, watch);
}

/** Handles frames in order, one at a time. A failure is reported, and the rest of that batch is skipped. */
export function watchJournal(
  place: TenantStore,
  hub: Pick<Hub, "join">,
  watch: JournalWatch & { readonly failed: (error: unknown) => void },
): void {
  let before = Promise.resolve();
  const seeAll = async (frames: readonly Frame[]) => {
    for (const frame of frames) await countEvent(place, frame, watch);
  };
  hub.join((frames) => {
    before = before.then(() => seeAll(frames)).catch(watch.failed);
  });
}
