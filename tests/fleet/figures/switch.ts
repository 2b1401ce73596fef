/** How long after a kill switch was acknowledged an effect still starts, on four nodes of which one is frozen. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../fixtures/until.ts";
import { createRandom, type Random } from "../../simulator/random.ts";
import { ask } from "../storm/ask.ts";
import { type Base, LEASE_SECONDS, openBase } from "../storm/base.ts";
import { createMember, type Member } from "../storm/crew.ts";
import { readJournal } from "../storm/watch.ts";
import { type Ear, openEar } from "./ear.ts";

const NODES = ["server-1", "server-2", "worker-1", "worker-2"] as const;

export type Switches = {
  readonly trials: number;
  /** Of each trial: from the acknowledgement to the last effect that arrived at the receiver; 0 where none came. */
  readonly arrived: readonly number[];
  /** The same to the last effect that was started, by the journal. */
  readonly started: readonly number[];
  readonly effects: number;
  readonly wrong: readonly string[];
};

type Trial = { readonly acknowledged: number; readonly released: number };
type Fleet = {
  readonly base: Base;
  readonly ear: Ear;
  readonly members: readonly Member[];
  readonly random: Random;
};

async function turn(fleet: Fleet, server: string, path: "pause" | "resume"): Promise<number> {
  const key = fleet.base.people["ann"] ?? "";
  const body = { reason: "measured" };
  for (;;) {
    const { said } = await ask({ server, key, method: "POST", path: `/api/kill-switch/${path}`, body });
    if (said === "yes") return Date.now();
    await sleep(50);
  }
}

/** One node is frozen while the switch is turned, and thaws while it is on. */
async function tryOnce(fleet: Fleet): Promise<Trial> {
  const { members, random, ear } = fleet;
  const frozen = random.pick(members);
  const [server = ""] = members.flatMap((one) => (one === frozen ? [] : (one.url ?? [])));
  const before = ear.ticks.length;
  await until(() => (ear.ticks.length > before + 4 ? true : undefined), "effects to arrive");
  await sleep(random.between(0, 50));
  frozen.signal("SIGSTOP");
  await sleep(random.between(0, 100));
  const acknowledged = await turn(fleet, server, "pause");
  await sleep(random.between(50, 600));
  frozen.signal("SIGCONT");
  await sleep(900);
  const released = Date.now();
  await turn(fleet, server, "resume");
  return { acknowledged, released };
}

/** By both: the last within each trial, after its acknowledgement. */
function lateOf(trials: readonly Trial[], times: readonly number[]): readonly number[] {
  const sorted = times.toSorted((a, b) => a - b);
  return trials.map(({ acknowledged, released }) => {
    const last = sorted.findLast((at) => at > acknowledged && at <= released);
    return last === undefined ? 0 : last - acknowledged;
  });
}

async function startedAt(base: Base): Promise<{ times: readonly number[]; wrong: readonly string[] }> {
  const { hp, store } = await base.open();
  const journal = readJournal();
  const wrong = await journal.read(store);
  const { findings } = await hp.journal.verify();
  await hp.close();
  const times = [...journal.actions.values()].flatMap((state) =>
    "effect" in state ? [state.effect.startedAt] : [],
  );
  return { times, wrong: [...wrong, ...findings.map(({ what }) => what)] };
}

export async function measureSwitch(count: number, seed: number): Promise<Switches> {
  const base = await openBase(0n);
  const ear = await openEar();
  const place = {
    ...{ folder: base.folder, postgres: base.server.port, receiver: ear.port, leaseSeconds: LEASE_SECONDS },
    definitions: join(import.meta.dirname, "definitions.ts"),
    env: { FLEET_FIGURE: "switch" },
    fell: () => undefined,
  };
  const members = await Promise.all(NODES.map((name) => createMember(name, place)));
  try {
    await Promise.all(members.map((member) => member.start()));
    const fleet = { base, ear, members, random: createRandom(BigInt(seed)) };
    const trials: Trial[] = [];
    while (trials.length < count) trials.push(await tryOnce(fleet));
    await Promise.all(members.map((member) => member.stop()));
    const { times, wrong } = await startedAt(base);
    const arrived = lateOf(
      trials,
      ear.ticks.map(({ at }) => at),
    );
    return { trials: count, arrived, started: lateOf(trials, times), effects: ear.ticks.length, wrong };
  } finally {
    await Promise.all(members.map((member) => member.stop()));
    ear.close();
    await base.close(false);
  }
}
