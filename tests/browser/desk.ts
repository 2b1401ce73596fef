/** A desk on trial: a real server with authentication on a store of its own, people in browsers, and agents with keys. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { admin } from "../../src/admin.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { Role } from "../../src/people/stream.ts";
import { type Bench, type BenchOptions, serverBench } from "../fixtures/server.ts";
import { buildDesk } from "./built-desk.ts";
import { launchChromium } from "./chromium.ts";
import { logInBy, strangerAt, type Visit, type VisitOptions } from "./visit.ts";

type End = { after(fn: () => Promise<void> | void): void };

/** Of a test file: what was opened last is closed first. */
export function endOf({ after }: { after(fn: () => Promise<void>): void }): End {
  const closing: (() => Promise<void> | void)[] = [];
  after(async () => {
    for (const close of closing.reverse()) await close();
  });
  return { after: (fn) => void closing.push(fn) };
}

/** One for a test file, started by the first test that wants it. */
export function sharedBrowser({ after }: End): () => Promise<Browser> {
  let launched: Promise<Browser> | undefined;
  after(async () => (await launched)?.close());
  return () => {
    launched ??= launchChromium();
    return launched;
  };
}

/** The first admin, by whom everybody else is added. */
export const ROOT = "person:root";
const FAST = { rate: 1_000_000, burst: 1_000_000, pending: 100_000 };

export type DeskOptions = Omit<BenchOptions, "define" | "folder"> & {
  readonly browser: () => Promise<Browser>;
  /** Declares tools and workflows in the server. */
  readonly define?: (hp: Holdpoint) => unknown;
  /** Left by another; it is not removed. */
  readonly folder?: string;
};

type Somebody = { readonly roles?: readonly Role[]; readonly groups?: readonly string[] };

export type Desk = {
  readonly url: string;
  readonly folder: string;
  /** The server's own instance, in this process. */
  readonly hp: Holdpoint;
  /** The text of a link for somebody, who is added if nobody knows them. */
  link(person: string, somebody?: Somebody): Promise<string>;
  /** A browser of their own, logged in. */
  visit(person: string, options?: VisitOptions & Somebody): Promise<Visit>;
  /** A browser that nobody is logged in with. */
  stranger(options?: VisitOptions): Promise<Visit>;
  /** A program somewhere else, with a key of its own. */
  agent(name: string): Promise<Client>;
  /** Stops the server; `start` brings it back on the same port and store. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

type Running = { readonly bench: Bench; readonly hp: Holdpoint };

/** What the fixture wants to have closed is closed when the browsers are. */
async function startIn(folder: string, given: Omit<DeskOptions, "browser" | "folder">): Promise<Running> {
  const { define, ...settings } = given;
  let own: Holdpoint | undefined;
  const bench = await serverBench(
    { after: () => undefined },
    {
      ...{ noAuth: false, folder, graceSeconds: 0, drainSeconds: 1, ...FAST },
      ...settings,
      define(hp) {
        own ??= hp;
        return define?.(hp);
      },
    },
  );
  return { bench, hp: own ?? assert.fail("no instance") };
}

const DECIDES: Somebody = { roles: ["supervisor"] };

async function known(hp: Holdpoint, person: string, { roles, groups }: Somebody): Promise<void> {
  const there = (await admin(hp).people.list()).map((one) => one.person);
  if (!there.includes(ROOT))
    await admin(hp).people.add({ person: ROOT, roles: ["admin", "supervisor"], by: ROOT });
  if (person === ROOT || there.includes(person)) return;
  const member = { roles: roles ?? DECIDES.roles ?? [], ...(groups === undefined ? {} : { groups }) };
  await admin(hp).people.add({ person, ...member, by: ROOT });
}

async function clientOf(hp: Holdpoint, url: string, name: string): Promise<Client> {
  const principal = name.includes(":") ? name : `agent:${name}`;
  const { text } = await admin(hp).keys.issue({ principal, name, roles: ["executor"], by: ROOT });
  return createClient({ server: url, credential: { key: text } });
}

export async function openDesk(context: End, options: DeskOptions): Promise<Desk> {
  const { browser, folder: given, ...rest } = options;
  await buildDesk();
  const folder = given ?? mkdtempSync(join(tmpdir(), "holdpoint-desk-"));
  let running: Running | undefined = await startIn(folder, rest);
  const { port, url } = running.bench;
  const at = (): Running => running ?? assert.fail("the server is stopped");
  const visits: Visit[] = [];
  await known(at().hp, ROOT, {});
  const stop = async () => {
    await running?.bench.close();
    running = undefined;
  };
  const stranger = async (how?: VisitOptions): Promise<Visit> => {
    const visit = await strangerAt({ browser: await browser(), url }, how);
    visits.push(visit);
    return visit;
  };
  const link = async (person: string, somebody: Somebody = {}): Promise<string> => {
    await known(at().hp, person, somebody);
    return (await admin(at().hp).people.loginLink(person, { by: ROOT })).link;
  };
  context.after(async () => {
    const faults = visits.flatMap((visit) => visit.faults.seen);
    for (const visit of visits) await visit.close();
    await stop();
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(faults, [], "what went wrong in the pages");
  });
  return {
    ...{ url, folder, link, stranger, stop },
    get hp() {
      return at().hp;
    },
    async visit(person, how = {}) {
      const visit = await stranger(how);
      await logInBy(visit, url, await link(person, how));
      return visit;
    },
    agent: (name) => clientOf(at().hp, url, name),
    async start() {
      running = await startIn(folder, { ...rest, port });
    },
  };
}
