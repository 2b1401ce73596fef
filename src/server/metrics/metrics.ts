/**
 * What can be counted, for Prometheus: of requests as they are answered, of the journal by following it.
 *
 * M1. What is said of the journal is of all of it, whichever node wrote that: each server says the same. Its help says so, since
 *     a sum over servers would count it several times.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Answered } from "../app.ts";
import { addInHand, addProcess, type NodeStanding } from "./node.ts";
import type { Whose } from "./whose.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MINUTE = 60;
const HOUR = 3_600;
/** People take from seconds to weeks. */
const WAITS = [1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 24 * HOUR, 72 * HOUR, 168 * HOUR];

/** Asked at every scrape. */
export type Standing = {
  readonly inDoubt: (whose: Whose) => Promise<number>;
  readonly pending: (whose: Whose) => Promise<number>;
  readonly listeners: () => number;
  readonly holds: () => number;
  readonly node: NodeStanding;
};

/** What the journal of a tenant says. */
export type Tally = {
  checkpoint(outcome: string): void;
  decided(outcome: string, seconds: number): void;
  action(outcome: string): void;
};

export type Metrics = {
  answered(facts: Answered): void;
  /** Counts for that tenant, and for all together. */
  of(tenant: string): Tally;
  /** With the figures of the process. */
  text(whose: Whose): Promise<string>;
  readonly type: string;
};

type Asked = {
  readonly name: string;
  readonly help: string;
  readonly value: () => number | Promise<number>;
};

function gauge(registry: Registry, { name, help, value }: Asked): void {
  const asked = new Gauge({
    ...{ name, help, registers: [] },
    async collect() {
      this.set(await value());
    },
  });
  registry.registerMetric(asked);
}

/** Ends the help of what every server says alike. */
const OF_ALL = "(of all nodes: take the max over servers, not the sum)";

type Book = { readonly registry: Registry; readonly tally: Tally };

function openBook({ inDoubt, pending, node }: Standing, whose: Whose): Book {
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
  const doubt = `Effects of which nobody knows whether they happened ${OF_ALL}`;
  gauge(registry, { name: "holdpoint_effects_in_doubt", help: doubt, value: () => inDoubt(whose) });
  const waits = `Approvals that wait for people ${OF_ALL}`;
  gauge(registry, { name: "holdpoint_approvals_pending", help: waits, value: () => pending(whose) });
  addInHand(registry, node, whose);
  const tally: Tally = {
    checkpoint: (outcome) => checkpoints.inc({ outcome }),
    decided: (outcome, seconds) => latency.observe({ outcome }, seconds),
    action: (outcome) => actions.inc({ outcome }),
  };
  return { registry, tally };
}

function both(one: Tally, other: Tally): Tally {
  return {
    checkpoint(outcome) {
      one.checkpoint(outcome);
      other.checkpoint(outcome);
    },
    decided(outcome, seconds) {
      one.decided(outcome, seconds);
      other.decided(outcome, seconds);
    },
    action(outcome) {
      one.action(outcome);
      other.action(outcome);
    },
  };
}

/** Of the process: how it answers, whoever asks. */
function ofProcess({ listeners, holds, node }: Standing) {
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

export function createMetrics(standing: Standing): Metrics {
  const { registry, requests } = ofProcess(standing);
  const all = openBook(standing, "all");
  const books = new Map<string, Book>();
  const bookOf = (tenant: string): Book => {
    const book = books.get(tenant) ?? openBook(standing, { tenant });
    books.set(tenant, book);
    return book;
  };
  return {
    answered: ({ method, route, status, ms }) =>
      requests.observe({ method, route, status: String(status) }, ms / 1_000),
    of: (tenant) => both(bookOf(tenant).tally, all.tally),
    async text(whose) {
      const book = whose === "all" ? all : bookOf(whose.tenant);
      return `${await registry.metrics()}\n${await book.registry.metrics()}`;
    },
    type: registry.contentType,
  };
}
