/** How long after a worker was killed its workflows run elsewhere. */
import { join } from "node:path";
import { until } from "../../fixtures/until.ts";
import { createRandom } from "../../simulator/random.ts";
import { LEASE_SECONDS, openBase } from "../storm/base.ts";
import { createMember, type Member } from "../storm/crew.ts";
import { type Ear, openEar } from "./ear.ts";

const WORKERS = ["worker-1", "worker-2", "worker-3"] as const;
const WATCHES_EACH = 2;

export type Takeovers = {
  readonly trials: number;
  readonly leaseMs: number;
  /** One for each workflow of a worker that was killed. */
  readonly ms: readonly number[];
  readonly wrong: readonly string[];
};

const WATCHES = WORKERS.flatMap((node) =>
  Array.from({ length: WATCHES_EACH }, (_, at) => `${node}.${at + 1}`),
);

async function killOne(ear: Ear, victim: Member): Promise<readonly number[]> {
  const pid = victim.pid();
  const theirs = WATCHES.filter((name) => ear.runnerOf(name) === pid);
  const moved = theirs.map((name) => ear.heardFromAnother(name, pid));
  const killed = performance.now();
  await victim.kill(0);
  return (await Promise.all(moved)).map((at) => at - killed);
}

const isRun = (ear: Ear, members: readonly Member[]): boolean => {
  const pids = new Set(members.map((member) => member.pid()));
  return WATCHES.every((name) => pids.has(ear.runnerOf(name) ?? -1));
};

/** A worker that runs something is killed, over and over; the others, or its next life, go on with it. */
export async function measureTakeover(
  trials: number,
  seed: number,
  tell: (line: string) => void = () => undefined,
): Promise<Takeovers> {
  const random = createRandom(BigInt(seed));
  const base = await openBase(0n);
  const ear = await openEar();
  const place = {
    ...{ folder: base.folder, postgres: base.server.port, receiver: ear.port, leaseSeconds: LEASE_SECONDS },
    definitions: join(import.meta.dirname, "definitions.ts"),
    env: { FLEET_FIGURE: "takeover", FLEET_WATCHES: WATCHES.join() },
    fell: () => undefined,
  };
  const members = await Promise.all(WORKERS.map((name) => createMember(name, place)));
  try {
    await Promise.all(members.map((member) => member.start()));
    const ms: number[] = [];
    for (let trial = 0; trial < trials; trial++) {
      await until(() => (isRun(ear, members) ? true : undefined), "all workflows to be run");
      const busy = members.filter((one) => WATCHES.some((name) => ear.runnerOf(name) === one.pid()));
      const took = await killOne(ear, random.pick(busy));
      tell(`${trial + 1}: ${took.map((one) => one.toFixed(0)).join(", ")} ms`);
      ms.push(...took);
    }
    ear.end();
    const { hp } = await base.open();
    await until(async () => {
      const { items } = await hp.workflows.list({ limit: 100 });
      return items.every(({ status }) => status === "completed") ? true : undefined;
    }, "all workflows to be completed");
    const wrong = (await hp.journal.verify()).findings.map(({ what }) => what);
    await hp.close();
    return { trials, leaseMs: LEASE_SECONDS * 1_000, ms, wrong };
  } finally {
    await Promise.all(members.map((member) => member.stop()));
    ear.close();
    await base.close(false);
  }
}
