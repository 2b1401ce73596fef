/** A fleet of an earlier version, replaced by this one while it is at work: node by node, or all nodes at once. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openPostgres } from "../../../src/postgres.ts";
import { until } from "../../fixtures/until.ts";
import { type Fleet, type Node, openFleet } from "../../fleet/nodes.ts";
import { checkRun, type Findings } from "./check.ts";
import { LEFT, startLoad } from "./load.ts";
import { startReceiver } from "./receiver.ts";

export type Rolled = Findings & {
  readonly seconds: number;
  readonly perSecond: number;
  readonly turnedAway: Readonly<Record<string, number>>;
};

export type RollOptions = {
  readonly older: {
    readonly name: string;
    /** Puts its program into a folder. */
    install(folder: string): unknown;
    /** It cannot read what this version writes, so that all its nodes stop before the first new one starts. */
    readonly stopsAll?: boolean;
  };
  /** Orders a second; each is seven operations: begun, picked, shipped, asked, decided, shipped, ended. */
  readonly orders: number;
  /** How long the fleet works before, between and after the replacements. */
  readonly pauseMs: number;
  readonly say: (line: string) => void;
};

const OPERATIONS = 7;
const CLI = join(import.meta.dirname, "../../../bin/holdpoint.mjs");
const NODE = join(import.meta.dirname, "node.ts");
/** What 0.1.0 ran has the names of today: every commit runs it. */
const DEFINITIONS = {
  older: join(import.meta.dirname, "../0.1.0/fleet.ts"),
  newer: join(import.meta.dirname, "definitions-newer.ts"),
};

type Kind = "serve" | "worker";
type Version = "older" | "newer";
type Running = {
  readonly kind: Kind;
  readonly version: Version;
  readonly node: Node;
  readonly url: string | null;
};

function starting(fleet: Fleet, older: string) {
  return async (kind: Kind, version: Version): Promise<Running> => {
    const file = version === "older" ? older : CLI;
    const own = kind === "serve" ? ["--no-auth", "--port", "0"] : ["--definitions", DEFINITIONS[version]];
    const node = fleet.start(NODE, file, kind, "--database", fleet.server.url, ...own);
    const ready = kind === "serve" ? /listens on (http:\/\/\S+)/ : /works on/;
    const found = await until(() => {
      if (node.process.exitCode !== null) throw new Error(`a ${version} ${kind} ended: ${node.said()}`);
      return ready.exec(node.said()) ?? undefined;
    }, `a ${version} ${kind}`);
    return { kind, version, node, url: kind === "serve" ? String(found[1]) : null };
  };
}

type Replacing = {
  readonly running: Running[];
  readonly start: ReturnType<typeof starting>;
  readonly urls: (string | null)[];
};

/** Tells nodes to stop, waits until they have ended, and starts newer ones. Clients learn of it by having no answer. */
async function replace(
  { running, start, urls }: Replacing,
  all: readonly number[],
): Promise<readonly (number | string)[]> {
  const before = all.map((at) => running[at]).filter((one) => one !== undefined);
  const places = before.map(({ url }) => urls.indexOf(url));
  for (const { node } of before) node.signal("SIGTERM");
  const codes = await Promise.all(before.map(({ node }) => node.ended()));
  before.forEach(({ url }, index) => {
    if (url !== null) urls[places[index] ?? 0] = null;
  });
  for (const [index, { kind }] of before.entries()) {
    const next = await start(kind, "newer");
    running[all[index] ?? 0] = next;
    if (next.url !== null) urls[places[index] ?? 0] = next.url;
  }
  return codes;
}

export async function roll(
  context: Parameters<typeof openFleet>[0],
  { older: version, orders, pauseMs, say }: RollOptions,
): Promise<Rolled> {
  const fleet = await openFleet(context);
  const program = join(fleet.folder, "older");
  version.install(program);
  const start = starting(fleet, join(program, "bin/holdpoint.mjs"));
  const receiver = await startReceiver();
  context.after(() => receiver.close());
  const kinds: readonly Kind[] = ["serve", "serve", "worker", "worker"];
  const running: Running[] = [];
  for (const kind of kinds) running.push(await start(kind, "older"));
  say(`2 servers and 2 workers of ${version.name} are there`);
  const urls = running.flatMap(({ url }) => url ?? []) as (string | null)[];
  const older = running.map(({ node }) => node);
  const begun = performance.now();
  const load = startLoad({ urls }, { receiver: receiver.url, perSecond: orders });
  // Asked by nodes of the older version, and decided when there are none any more.
  await until(() => {
    load.check();
    return load.left.size === LEFT ? true : undefined;
  }, "the first questions");
  const ends: (number | string)[] = [];
  for (const all of version.stopsAll === true ? [[0, 2, 1, 3]] : [[0], [2], [1], [3]]) {
    await sleep(pauseMs);
    load.check();
    ends.push(...(await replace({ running, start, urls }, all)));
    const what = all.map((at) => `${running[at]?.kind} ${at % 2}`).join(", ");
    say(`newer now: ${what}; ${load.started.size} orders so far, ${load.decided.size} decided`);
  }
  load.hurry();
  await sleep(pauseMs);
  await load.stop();
  const parcels = 2 * load.started.size + load.letters.size;
  const atRest = async () => (receiver.came.size >= parcels ? true : undefined);
  await until(atRest, "every parcel to come").catch(() => undefined);
  const seconds = (performance.now() - begun) / 1_000;
  const newer = running.map(({ node }) => node);
  const store = await openPostgres({ database: fleet.server.url });
  const findings = await checkRun({ fleet, store, load, came: receiver.came, ends, older, newer });
  await store.close();
  const perSecond = (load.started.size * OPERATIONS) / seconds;
  return { ...findings, seconds, perSecond, turnedAway: Object.fromEntries(load.turnedAway) };
}
