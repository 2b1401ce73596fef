/** Listeners that come and go while things happen and servers are replaced: each event once and in order to each. */
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pick, type Random } from "../../server/sample.ts";
import { inLanes, type Target } from "./server-process.ts";

export type Heard = {
  readonly events: number;
  readonly connections: number;
  readonly wrong: readonly string[];
};

const PAUSE_MS = 100;
const PATIENCE_MS = 120_000;

type Ear = {
  readonly positions: number[];
  /** Ends this connection; it comes back after the last event that it has. */
  hangUp(): void;
  stop(): void;
};
type Count = { connections: number };

/** One connection, until it ends in whatever way. */
function listenOnce(
  url: string,
  headers: Record<string, string>,
  take: (id: number, event: string) => void,
  opened: (end: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const request = get(url, { headers, agent: false }, (response) => {
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const blocks = (rest + chunk).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) {
          const id = /^id: (\d+)$/m.exec(block)?.[1];
          if (id !== undefined) take(Number(id), /^event: (.*)$/m.exec(block)?.[1] ?? "");
        }
      });
      response.on("close", resolve).on("error", () => resolve());
    });
    request.on("error", () => resolve());
    opened(() => request.destroy());
  });
}

function openEar({ port, keys }: Target, count: Count): Ear {
  const positions: number[] = [];
  let last = 0;
  let isOver = false;
  let end: () => void = () => undefined;
  const take = (id: number, event: string) => {
    last = id;
    if (event.startsWith("intent.")) positions.push(id);
  };
  const url = `http://127.0.0.1:${port}/api/events?stream=intent&after=0`;
  const keepOn = async () => {
    while (!isOver) {
      count.connections++;
      const headers = { authorization: `Bearer ${keys.ann}`, "last-event-id": String(last) };
      await listenOnce(url, headers, take, (hangUp) => {
        end = hangUp;
      });
      if (!isOver) await sleep(PAUSE_MS);
    }
  };
  keepOn().catch(() => undefined);
  return {
    positions,
    hangUp: () => end(),
    stop() {
      isOver = true;
      end();
    },
  };
}

/** Until it is taken: servers are replaced meanwhile. */
async function make({ port, keys }: Target, n: number): Promise<void> {
  const headers = { authorization: `Bearer ${keys.agent}`, "content-type": "application/json" };
  const body = JSON.stringify({
    intent_type: "task",
    to_agent: "agent://doer",
    payload: { n },
    request_id: `n-${n}`,
  });
  for (;;) {
    const sent = await fetch(`http://127.0.0.1:${port}/api/intents`, { method: "POST", headers, body }).catch(
      () => undefined,
    );
    await sent?.arrayBuffer();
    if (sent?.status === 201 || sent?.status === 200) return;
    await sleep(PAUSE_MS);
  }
}

/** What there was to hear, by the journal. */
async function written({ port, keys }: Target): Promise<readonly number[]> {
  const positions: number[] = [];
  for (let cursor = ""; ; ) {
    const url = `http://127.0.0.1:${port}/api/journal?limit=1000${cursor}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${keys.ann}` } });
    const page = (await answer.json()) as {
      readonly entries: readonly { readonly position: number; readonly stream: string }[];
      readonly next_cursor: string | null;
    };
    for (const { position, stream } of page.entries)
      if (stream.startsWith("intent/")) positions.push(position);
    if (page.next_cursor === null) return positions;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

async function allHeard(ears: readonly Ear[], count: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (ears.some(({ positions }) => positions.length < count) && performance.now() < end) await sleep(50);
}

export async function hear(
  target: Target,
  { listeners, events, random }: { listeners: number; events: number; random: Random },
): Promise<Heard> {
  const count: Count = { connections: 0 };
  const ears = Array.from({ length: listeners }, () => openEar(target, count));
  try {
    for (const how of ["stop", "kill", "none"] as const) {
      const numbers = Array.from({ length: events }, (_, n) => n);
      const making = inLanes(4, numbers, (n) =>
        make(target, n + events * ["stop", "kill", "none"].indexOf(how)),
      );
      for (let n = 0; n < listeners / 2; n++) {
        pick(random, ears).hangUp();
        if (n % 10 === 0) await sleep(5);
      }
      if (how !== "none") await target.restart(how);
      await making;
    }
    const all = await written(target);
    await allHeard(ears, all.length);
    const wanted = all.join();
    const wrong = ears.flatMap(({ positions }, n) =>
      positions.join() === wanted
        ? []
        : `listener ${n} heard ${positions.length} of ${all.length}: ${positions}`,
    );
    return { events: all.length, connections: count.connections, wrong };
  } finally {
    for (const ear of ears) ear.stop();
  }
}
