/**
 * Takes what is due and sends it, some of each endpoint at a time.
 *
 * V1. Each message is with one process at a time: it is claimed for longer than an attempt can take.
 * V2. An endpoint that is slow fills its own places and no others.
 */
import { type KnownEndpoint, OUTBOXES } from "./known-endpoints.ts";
import { type Office, sendOne } from "./send-one.ts";

const OF_ONE_ENDPOINT = 4;
const IN_ALL = 64;
/** So many times as long as an attempt may take: time enough to read before it, and to write down after it. */
const LEASE_TIMES = 2;
/** What is due and with somebody else is looked at again after this long. */
const LOOK_AGAIN_MS = 1_000;

export type Sender = {
  /** Takes what it has room for. Answers when something more is due; null when nothing waits. */
  dispatch(endpoints: readonly KnownEndpoint[]): Promise<number | null>;
  /** Resolves when everything under way is over. */
  rest(): Promise<void>;
};

/** `freed`: called whenever there is room again. */
export function createSender(office: Office, freed: (error?: unknown) => void): Sender {
  const { runtime, settings } = office;
  const { store, tenant, clock } = runtime;
  const underWay = new Map<string, number>();
  const jobs = new Set<Promise<void>>();

  function begin(endpoint: string, message: string): void {
    underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1);
    const job = sendOne(office, message)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
      .then((error) => {
        underWay.set(endpoint, (underWay.get(endpoint) ?? 1) - 1);
        jobs.delete(job);
        freed(error);
      });
    jobs.add(job);
  }

  const canSend = ({ target }: KnownEndpoint): boolean => target.kind === "webhook" || settings.mail !== null;

  async function nextOf(id: string, now: number): Promise<number | null> {
    const first = await Promise.all(
      OUTBOXES.map(async (view) => store.query(tenant, { view, bucket: id, limit: 1 })),
    );
    const times = first.flat().map(({ at }) => Math.max(at, now + LOOK_AGAIN_MS));
    return times.length === 0 ? null : Math.min(...times);
  }

  async function take({ id }: KnownEndpoint): Promise<number | null> {
    const now = clock.now();
    const due = { bucket: id, dueBy: now, leaseMs: LEASE_TIMES * settings.timeoutMs };
    for (const view of OUTBOXES) {
      const room = Math.min(OF_ONE_ENDPOINT - (underWay.get(id) ?? 0), IN_ALL - jobs.size);
      // Whoever is under way makes room, and asks again.
      if (room <= 0) return null;
      for (const { stream } of await store.claim(tenant, { view, limit: room, ...due })) begin(id, stream.id);
    }
    return nextOf(id, now);
  }

  return {
    async dispatch(endpoints) {
      let next: number | null = null;
      for (const endpoint of endpoints.filter(canSend)) {
        const at = await take(endpoint);
        if (at !== null && (next === null || at < next)) next = at;
      }
      return next;
    },
    async rest() {
      await Promise.all(jobs);
    },
  };
}
