/**
 * What clients do while nodes are replaced, over HTTP and at any server that answers: they start orders, agents outside ask for
 * permits and report, and people decide.
 */
import { setTimeout as sleep } from "node:timers/promises";

export type Servers = { readonly urls: (string | null)[] };

export type Load = {
  /** Orders that were acknowledged, by number. */
  readonly started: ReadonlyMap<number, string>;
  /** Letters of the agent outside, by number: its action, and how it ended. */
  readonly letters: ReadonlyMap<number, Letter>;
  /** Decisions that were acknowledged. */
  readonly decided: ReadonlySet<string>;
  /** Why a request was asked again elsewhere, and how often. */
  readonly turnedAway: ReadonlyMap<string, number>;
  /** Approvals that people have seen and left for later. */
  readonly left: ReadonlySet<string>;
  /** Throws what a client threw, if one did. */
  check(): void;
  /** From now on nothing is left for later. */
  hurry(): void;
  stop(): Promise<void>;
};

export type Letter = { readonly action: string; readonly end: "waiting" | "reported" | string };

const MOST_OPEN = 40;
/** The first approvals that people see wait while nodes are replaced. */
export const LEFT = 6;
/** Looks without a decision, 50 ms apart, after which people give up: what was not asked by then is stuck. */
const MOST_IDLE_LOOKS = 600;
/** Each second order comes with a letter. */
const LETTER_EVERY = 2;
const AGENT = "agent:courier";

type Request = { readonly method: "GET" | "POST"; readonly path: string; readonly body?: unknown };
type Answered = { readonly status: number; readonly body: Record<string, unknown> };
type Ask = (request: Request) => Promise<Answered>;

async function askOne(url: string, { method, path, body }: Request): Promise<Answered> {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers };
  const answer = await fetch(`${url}${path}`, { method, ...init, signal: AbortSignal.timeout(10_000) });
  return { status: answer.status, body: JSON.parse(await answer.text()) as Record<string, unknown> };
}

/** One server's answer, or undefined where another one has to be asked. */
async function tryOne(url: string, request: Request, failed: (why: string) => void) {
  try {
    const answer = await askOne(url, request);
    if (answer.status < 500) return answer;
    failed(`${answer.status} ${answer.body["code"] ?? answer.body["error"]}`);
  } catch {
    failed("no answer");
  }
  return undefined;
}

/** Looks for a server, 20 ms apart, after which a client gives up: a whole fleet may just be starting. */
const MOST_TRIES = 3_000;

/** At any server, until one has an answer. */
function askingAny({ urls }: Servers, failed: (why: string) => void): Ask {
  return async (request) => {
    for (let at = Math.floor(Math.random() * urls.length), tries = 0; tries < MOST_TRIES; at++, tries++) {
      const url = urls[at % urls.length];
      const answer = url == null ? undefined : await tryOne(url, request, failed);
      if (answer !== undefined) return answer;
      await sleep(20);
    }
    throw new Error(`nobody answers ${request.path}`);
  };
}

async function post(ask: Ask, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await ask({ method: "POST", path, body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

type Sending = {
  readonly n: number;
  readonly receiver: string;
  readonly letters: Map<number, Letter>;
  /** Nobody decides any more. */
  readonly gaveUp: AbortSignal;
};

/** Asks until people have agreed, performs it once, and says so until that is acknowledged. */
async function sendLetter(ask: Ask, { n, receiver, letters, gaveUp }: Sending): Promise<void> {
  const proposal = { tool: "letter", args: { n }, request_id: `letter ${n}`, agent: AGENT };
  while (!gaveUp.aborted) {
    const { status, kind, action_id } = await post(ask, "/api/actions", proposal);
    // A server of 0.1.0 says `kind`, and "waiting".
    const told = String(status ?? kind);
    const action = String(action_id);
    letters.set(n, { action, end: told });
    if (told === "pending" || told === "waiting") {
      await sleep(100);
      continue;
    }
    if (told !== "permitted") return;
    await fetch(receiver, { method: "POST", body: JSON.stringify({ n, part: "letter" }) });
    await post(ask, `/api/actions/${action}/outcome`, { status: "applied", result: { n }, agent: AGENT });
    letters.set(n, { action, end: "reported" });
    return;
  }
}

type People = { readonly decided: Set<string>; readonly isForLater: (id: string) => boolean };

/** Everything that waits and is not left for later. */
async function decideAll(ask: Ask, { decided, isForLater }: People): Promise<void> {
  const { body } = await ask({ method: "GET", path: "/api/approvals?status=pending&limit=50" });
  const items = body["approvals"] as readonly { readonly request_id: string }[];
  const ids = items.map(({ request_id }) => request_id).filter((id) => !decided.has(id) && !isForLater(id));
  await Promise.all(
    ids.map(async (id) => {
      await post(ask, `/api/approvals/${id}/votes`, { decision: "approve", approved_by: "person:ann" });
      decided.add(id);
    }),
  );
}

export function startLoad(
  servers: Servers,
  { receiver, perSecond }: { readonly receiver: string; readonly perSecond: number },
): Load {
  const over = new AbortController();
  const gaveUp = new AbortController();
  const started = new Map<number, string>();
  const letters = new Map<number, Letter>();
  const decided = new Set<string>();
  const turnedAway = new Map<string, number>();
  const left = new Set<string>();
  const sending: Promise<void>[] = [];
  let isHurried = false;
  const isForLater = (id: string): boolean => {
    if (isHurried) return false;
    if (left.size < LEFT) left.add(id);
    return left.has(id);
  };
  const ask = askingAny(servers, (why) => void turnedAway.set(why, (turnedAway.get(why) ?? 0) + 1));
  // One question each; counted before it can be asked.
  let wanted = 0;
  const open = () => wanted - decided.size;
  const begin = async () => {
    for (let n = 1; !over.signal.aborted; n++) {
      // Clients do not run ahead of a machine that is slow: the load is what it can carry.
      while (open() > MOST_OPEN && !over.signal.aborted) await sleep(20);
      if (over.signal.aborted) return;
      wanted += n % LETTER_EVERY === 0 ? 2 : 1;
      if (n % LETTER_EVERY === 0)
        sending.push(sendLetter(ask, { n, receiver, letters, gaveUp: gaveUp.signal }));
      const order = { input: { n, receiver }, request_id: `order ${n}`, by: "person:bob" };
      const [made] = await Promise.all([
        post(ask, "/api/definitions/order/start", order),
        sleep(1_000 / perSecond),
      ]);
      started.set(n, String(made["workflow_id"]));
    }
  };
  const people = async () => {
    for (let idle = 0; !over.signal.aborted || (open() > 0 && idle < MOST_IDLE_LOOKS); ) {
      const before = decided.size;
      await decideAll(ask, { decided, isForLater });
      idle = over.signal.aborted && decided.size === before ? idle + 1 : 0;
      await sleep(50);
    }
    if (open() > 0) gaveUp.abort();
  };
  const done = Promise.all([begin(), people()]).then(() => Promise.all(sending));
  let failure: unknown;
  done.catch((error: unknown) => {
    failure = error;
  });
  return {
    ...{ started, letters, decided, turnedAway, left },
    check() {
      if (failure !== undefined) throw failure;
    },
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
