/**
 * The restore drill: a program works on a store, a backup is made in the middle of it, the program goes on and ends or is
 * killed, and the backup is put back. Nothing may run in that store before a person has acknowledged it, and nothing that
 * was open in it may be sent again afterwards. The effect server's log says what really happened.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Holdpoint, holdpoint, isHoldpointError } from "../../src/index.ts";
import { startEffectServer } from "../crash/child.ts";
import type { Received } from "../crash/effects.ts";
import { createLines } from "../fixtures/lines.ts";
import { type DrillPlace, openPlace } from "./places.ts";
import { KINDS, type Kind, KNOWN, orderOf, type Tools, toolsOn } from "./tools.ts";

export type DrillOptions = {
  readonly count: number;
  readonly store: "sqlite" | "postgres";
  readonly seed: number;
  /** For a test of the drill itself: what this machine saw is thrown away before every restore. */
  readonly blind?: boolean;
};

export type Drilled = {
  readonly restores: number;
  /** Calls that were refused because the store was restored. */
  readonly refused: number;
  /** Calls after the acknowledgement, by what was answered. */
  readonly answers: ReadonlyMap<string, number>;
  readonly ways: ReadonlyMap<string, number>;
  readonly kills: number;
  readonly applied: number;
  /** Orders that were applied more than once. */
  readonly again: readonly string[];
  readonly wrong: readonly string[];
};

type Drill = {
  readonly options: DrillOptions;
  readonly root: string;
  readonly place: DrillPlace;
  readonly port: number;
  random(below: number): number;
  readonly counts: { refused: number; kills: number };
  readonly answers: Map<string, number>;
  readonly ways: Map<string, number>;
  readonly wrong: string[];
};

/** Rounds whose backups are kept: sometimes an older one is put back. */
const KEPT = 3;
const SAID = { by: "person:ann", reason: "compared with the log" };
const EXPECTED: Readonly<Record<Kind, string>> = {
  before: "done",
  once: "in_doubt",
  keyed: "in_doubt",
  idempotent: "in_doubt",
  probed: "in_doubt",
  given: "lapsed",
  held: "lapsed",
  asked: "pending",
  after: "",
};

const bump = (map: Map<string, number>, name: string): void => void map.set(name, (map.get(name) ?? 0) + 1);
const backupOf = (round: number): string => `backup-${round % KEPT}`;

function readLog(drill: Pick<Drill, "root">): readonly string[] {
  const lines = readFileSync(join(drill.root, "effects.log"), "utf8").split("\n").filter(Boolean);
  const received = lines.map((line) => JSON.parse(line) as Received);
  return received.flatMap(({ outcome, args }) =>
    outcome === "applied" ? [(JSON.parse(args) as { order: string }).order] : [],
  );
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The life before the restore. What it did after the backup is known only to the effect server. */
async function work(drill: Drill, round: number, mayDieEarly: boolean): Promise<void> {
  const { root, place, port } = drill;
  const task = { where: place.where(), keyFile: join(root, "key.json"), port, round };
  const file = join(import.meta.dirname, "worker.ts");
  const child = spawn(process.execPath, ["--no-warnings", file, JSON.stringify(task)], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(root, "compiled") },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const died = ended.then((code) => `died with ${code}`);
  const heard = createLines(child);
  const expect = async (line: string) => {
    const said = await Promise.race([heard(), died]);
    if (said !== line) drill.wrong.push(`round ${round}: the program said "${said}" instead of "${line}"`);
  };
  await expect("open");
  await place.backUp(backupOf(round));
  child.stdin.write("go\n");
  const end = drill.random(3);
  if (end === 0 && mayDieEarly) await new Promise((resolve) => setTimeout(resolve, drill.random(60)));
  else await expect("done");
  if (end < 2) drill.counts.kills++;
  if (end < 2) child.kill("SIGKILL");
  else child.stdin.write("close\n");
  await ended;
}

function open(drill: Drill): { readonly hp: Holdpoint; readonly tools: Tools } {
  const keyFile = join(drill.root, "key.json");
  const hp = holdpoint({ ...drill.place.where(), keyFile, agent: "drill", notify: () => undefined });
  return { hp, tools: toolsOn(hp, drill.port, async () => undefined) };
}

async function answered(tools: Tools, round: number, kind: Kind): Promise<string> {
  const order = orderOf(round, kind);
  try {
    const answer = await tools.of(kind)({ order }, { requestId: order, waitMs: 0 });
    return "code" in answer ? answer.code : String(answer.status);
  } catch (error) {
    return isHoldpointError(error) ? error.code : String(error);
  }
}

/** Every program that starts now is refused, whatever it asks for. */
async function refusedBefore(drill: Drill, hp: Holdpoint, tools: Tools, round: number): Promise<void> {
  // Nothing else keeps them from running.
  await hp.resume({ ...SAID, agent: "drill" });
  for (const kind of KINDS) {
    const answer = await answered(tools, round, kind);
    if (answer === "store_restored") drill.counts.refused++;
    else
      drill.wrong.push(
        `round ${round}: ${kind} was answered "${answer}" before the restore was acknowledged`,
      );
  }
  const recovered = await hp.recover().then(
    () => "recovered",
    (error: unknown) => (isHoldpointError(error) ? error.code : String(error)),
  );
  if (recovered !== "store_restored") drill.wrong.push(`round ${round}: recovery answered "${recovered}"`);
}

async function answeredAfter(drill: Drill, hp: Holdpoint, tools: Tools, round: number): Promise<void> {
  await hp.recover();
  for (const kind of KNOWN) {
    const answer = await answered(tools, round, kind);
    bump(drill.answers, `${kind} ${answer}`);
    if (answer !== EXPECTED[kind])
      drill.wrong.push(`round ${round}: ${kind} was answered "${answer}" after the restore`);
  }
  const { ok } = await hp.journal.verify();
  if (!ok) drill.wrong.push(`round ${round}: the journal does not verify`);
}

/** From the backup of which round the store is made again. */
function chosen(drill: Drill, round: number): number {
  const back = drill.random(4) === 0 ? drill.random(KEPT) : 0;
  return Math.max(0, round - back);
}

async function restoreOnce(drill: Drill, round: number): Promise<void> {
  const { place, root, wrong } = drill;
  const way = place.ways[drill.random(place.ways.length)] ?? "";
  bump(drill.ways, way);
  const isRecognisedByPlace = !["overwrite", "data folder"].includes(way);
  await work(drill, round, isRecognisedByPlace);
  const from = chosen(drill, round);
  if (drill.options.blind === true) rmSync(join(root, "witness"), { recursive: true, force: true });
  await place.putBack(way, backupOf(from));
  const before = readLog(drill).length;
  const { hp, tools } = open(drill);
  try {
    await refusedBefore(drill, hp, tools, from);
    await hp
      .acknowledgeRestore(SAID)
      .catch((error: unknown) => wrong.push(`round ${round}: ${String(error)}`));
    await answeredAfter(drill, hp, tools, from);
  } finally {
    await hp.close();
  }
  const more = readLog(drill).length - before;
  if (more > 0) wrong.push(`round ${round} (${way}): ${more} effects were sent after the restore`);
}

const again = (orders: readonly string[]): readonly string[] => [
  ...new Set(orders.filter((order, at) => orders.indexOf(order) !== at)),
];

export async function runDrill(options: DrillOptions, say: (line: string) => void): Promise<Drilled> {
  const root = mkdtempSync(join(tmpdir(), "holdpoint-drill-"));
  const server = await startEffectServer(join(root, "effects.log"));
  const place = await openPlace(options.store, root);
  const counts = { refused: 0, kills: 0 };
  const drill: Drill = {
    options,
    root,
    place,
    port: server.port,
    random: randomFrom(options.seed),
    counts,
    answers: new Map(),
    ways: new Map(),
    wrong: [],
  };
  try {
    for (let round = 0; round < options.count; round++) {
      await restoreOnce(drill, round);
      if ((round + 1) % 20 === 0) say(`${round + 1} restores, ${drill.wrong.length} wrong`);
    }
    const orders = readLog(drill);
    const { answers, ways, wrong } = drill;
    return {
      restores: options.count,
      ...counts,
      answers,
      ways,
      applied: orders.length,
      again: again(orders),
      wrong,
    };
  } finally {
    await place.close();
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  }
}
