/** One history: a fleet at work while everything that can happen to it happens, then let alone, then checked. */
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Received } from "../../crash/effects.ts";
import { checkJournal } from "../../crash/full-check.ts";
import { tail } from "../../crash/told.ts";
import { checkEveryView } from "../../crash/workflow/views.ts";
import { type Base, LEASE_SECONDS, openBase } from "./base.ts";
import { checkHistory } from "./check.ts";
import { type Client, startClient } from "./clients.ts";
import { createMember, type Member } from "./crew.ts";
import type { Fault } from "./history.ts";
import { type Blow, drawOffsets, drawPlan, type Nemesis, NODES } from "./plan.ts";
import { readEverywhere } from "./read-all.ts";
import { type Doubt, settle } from "./settle.ts";
import { strikeAll } from "./strike.ts";
import { isAcknowledged, type Line } from "./told.ts";
import { type JournalReader, readJournal } from "./watch.ts";

export type StormOptions = {
  readonly seed: number;
  readonly seconds: number;
  readonly nemeses: readonly Nemesis[];
  readonly lanes?: number;
  readonly pauseMs?: number;
};

export type Storm = {
  readonly options: StormOptions;
  readonly told: readonly Line[];
  /** Acknowledged in a second, while it was under fire. */
  readonly rate: number;
  readonly struck: ReadonlyMap<Nemesis, number>;
  readonly fell: readonly string[];
  readonly entries: number;
  readonly applications: number;
  readonly doubts: readonly Doubt[];
  readonly settledMs: number;
  readonly journal: JournalReader;
  readonly faults: readonly Fault[];
  /** What is wrong with the journal itself, by both verifiers, and with its views. */
  readonly wrong: readonly string[];
  /** Where it was kept, if anything was found. */
  readonly folder: string | null;
};

const CLIENTS = 2;

async function startMembers(base: Base, fell: string[], offsets: ReadonlyMap<string, number>) {
  const place = {
    folder: base.folder,
    postgres: base.server.port,
    receiver: base.receiver.port,
    leaseSeconds: LEASE_SECONDS,
    definitions: join(import.meta.dirname, "definitions.ts"),
    fell: (node: string, how: string) => void fell.push(`${node} ended ${how}`),
  };
  const members = await Promise.all(NODES.map((name) => createMember(name, place)));
  for (const member of members) member.setClock(offsets.get(member.name) ?? 0);
  await Promise.all(members.map((member) => member.start()));
  return new Map(members.map((member) => [member.name, member]));
}

const serversOf = (members: ReadonlyMap<string, Member>): readonly string[] =>
  [...members.values()].flatMap(({ url }) => url ?? []);

const logOf = ({ folder }: Base, client: number): string => join(folder, `client-${client}.log`);

function startClients(base: Base, members: ReadonlyMap<string, Member>, options: StormOptions) {
  const servers = serversOf(members);
  const { seed, lanes = 30, pauseMs = 20 } = options;
  return Promise.all(
    Array.from({ length: CLIENTS }, (_, at) =>
      startClient({
        ...{ name: `c${at}`, seed: seed + at, first: at * 1_000_000, servers, lanes, pauseMs },
        agentKey: base.agentKey,
        people: base.people,
        receiver: base.receiver.port,
        log: logOf(base, at),
      }),
    ),
  );
}

type UnderFire = Pick<Storm, "struck" | "rate"> & { readonly clients: readonly Client[] };

async function fire(
  base: Base,
  members: ReadonlyMap<string, Member>,
  options: StormOptions,
): Promise<UnderFire> {
  const plan: readonly Blow[] = drawPlan({ ...options, leaseMs: LEASE_SECONDS * 1_000 });
  const blows = createWriteStream(join(base.folder, "blows.log"));
  const begun = Date.now();
  const clients = await startClients(base, members, options);
  const log = (text: string) => void blows.write(`${text}\n`);
  const struck = await strikeAll({ members, server: base.server, log }, plan);
  await sleep(Math.max(0, options.seconds * 1_000 - (Date.now() - begun)));
  const ended = Date.now();
  const acknowledged = readTold(base).filter((line) => isAcknowledged(line) && line.at <= ended).length;
  await Promise.all(clients.map((client) => client.stop()));
  return { struck, clients, rate: (acknowledged * 1_000) / (ended - begun) };
}

function readTold(base: Base): readonly Line[] {
  return Array.from({ length: CLIENTS }, (_, at) =>
    readFileSync(logOf(base, at), "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line) as Line),
  ).flat();
}

const isWatched = (kind: string): boolean => ["action", "approval", "workflow"].includes(kind);

/** With nobody at work any more. */
async function examine(base: Base, journal: JournalReader): Promise<readonly string[]> {
  const { hp, store } = await base.open();
  try {
    const wrong = [...(await journal.read(store))];
    wrong.push(...(await checkJournal(hp, base.folder, undefined)));
    return [...wrong, ...(await checkEveryView(store, journal, isWatched))];
  } finally {
    await hp.close();
  }
}

async function runOn(base: Base, options: StormOptions): Promise<Storm> {
  const fell: string[] = [];
  const members = await startMembers(base, fell, drawOffsets(options));
  const journal = readJournal();
  const { hp, store } = await base.open();
  try {
    const { clients, struck, rate } = await fire(base, members, options);
    const settled = await settle({ hp, store, journal, log: base.receiver.log });
    await Promise.all(clients.map((client) => client.end()));
    await journal.read(store);
    const heard = readTold(base);
    const place = { servers: serversOf(members), key: base.people["ann"] ?? "" };
    const told = [...heard, ...(await readEverywhere(place, heard, journal))];
    await Promise.all([...members.values()].map((member) => member.stop()));
    const received = tail<Received>(base.receiver.log)();
    // One that cannot start because the database is away ends, and is started again; one at work does not end.
    const ended = fell.filter((how) => how.includes("at work"));
    const wrong = [...settled.wrong, ...ended, ...(await examine(base, journal))];
    return {
      ...{ options, told, rate, struck, fell, journal, wrong },
      entries: journal.entries(),
      applications: received.filter(({ outcome }) => outcome === "applied").length,
      doubts: settled.doubts,
      settledMs: settled.ms,
      faults: checkHistory({ told, received, journal }),
      folder: null,
    };
  } finally {
    await Promise.all([...members.values()].map((member) => member.stop()));
    await hp.close();
  }
}

export const isSound = ({ faults, wrong }: Pick<Storm, "faults" | "wrong">): boolean =>
  faults.length === 0 && wrong.length === 0;

export async function runStorm(options: StormOptions): Promise<Storm> {
  const base = await openBase(BigInt(options.seconds) * 3_000_000n);
  let isKept = true;
  try {
    const storm = await runOn(base, options);
    isKept = !isSound(storm);
    return { ...storm, folder: isKept ? base.folder : null };
  } finally {
    await base.close(isKept);
  }
}
