/** The bench without the systems that it measures beside: how it counts, takes turns, judges and is called. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readArguments } from "../../bench/arguments.ts";
import { type Case, casesOf, driverOf, nameOf } from "../../bench/cases.ts";
import { startDriver } from "../../bench/driver-process.ts";
import { readReply } from "../../bench/http/load.ts";
import { jsonLine, type Measurement, measurementOf } from "../../bench/measurement.ts";
import { createRecorder } from "../../bench/recorder.ts";
import { report } from "../../bench/report.ts";
import { interleave } from "../../bench/rounds.ts";
import { median, percentile } from "../../bench/statistics.ts";
import { judge, targetsOf } from "../../bench/targets.ts";

const BENCH = join(import.meta.dirname, "../../bench");

test("a median of an even number of values lies between the middle two", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
});

test("a percentile is a value that was measured", () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.equal(percentile(values, 0.5), 50);
  assert.equal(percentile(values, 0.99), 99);
  assert.equal(percentile([7], 0.99), 7);
});

/** A clock and a processor that move when they are told to. */
function instruments() {
  const state = { at: 0, driver: 0, servers: 0 };
  return {
    state,
    now: () => state.at,
    cpu: () => ({ driver: state.driver, servers: state.servers }),
  };
}

test("a window counts what ends after the run-up and before its end, and no processor time beside it", () => {
  const { state, ...given } = instruments();
  const recorder = createRecorder({ runUpMs: 100, windowMs: 100 }, given);
  while (!recorder.isOver()) {
    const began = state.at;
    state.at += 10;
    state.driver += 30;
    state.servers += 7;
    recorder.done(began);
  }
  const { calls, perSecond, p50, driverCpu, serverCpu } = recorder.window();
  assert.deepEqual(
    { calls, perSecond, p50, driverCpu, serverCpu },
    { calls: 10, perSecond: 100, p50: 10, driverCpu: 30, serverCpu: 7 },
  );
  assert.equal(state.at, 200);
});

test("calls whose latency is a part of their time are counted by that part", () => {
  const { state, ...given } = instruments();
  const recorder = createRecorder({ runUpMs: 0, windowMs: 100 }, given);
  while (!recorder.isOver()) {
    state.at += 10;
    recorder.took(2);
  }
  assert.equal(recorder.window().perSecond, 500);
});

test("a window in which nothing ended is an error, not a zero", () => {
  const { state, ...given } = instruments();
  const recorder = createRecorder({ runUpMs: 0, windowMs: 100 }, given);
  state.at = 500;
  assert.throws(() => recorder.window(), /too few calls/);
});

test("windows take turns, every other round backwards, and a case that fails is left out from then on", async () => {
  const order: string[] = [];
  const failed: string[] = [];
  const results = await interleave({
    cases: ["a", "b", "c"],
    rounds: 3,
    measure: async (one, round) => {
      order.push(`${one}${round}`);
      if (one === "b" && round === 1) throw new Error("gone");
      return round;
    },
    failed: (one) => void failed.push(one),
  });
  assert.deepEqual(order, ["a0", "b0", "c0", "c1", "b1", "a1", "a2", "c2"]);
  assert.deepEqual(failed, ["b"]);
  assert.deepEqual(
    [...results],
    [
      ["a", [0, 1, 2]],
      ["c", [0, 1, 2]],
    ],
  );
});

const figure = (one: Omit<Case, "variant"> & Partial<Measurement>): Measurement => ({
  variant: null,
  perSecond: 0,
  p50: 1,
  p99: 2,
  driverCpu: 3,
  serverCpu: 4,
  windows: [1],
  ...one,
});

const peer = (
  system: Case["system"],
  store: Case["store"],
  perSecond: number,
  variant: string | null = null,
) => figure({ bench: "durable-step", system, store, inFlight: 64, perSecond, variant });
const ours = (store: Case["store"], inFlight: number, perSecond: number) =>
  figure({ bench: "guarded-call", system: "holdpoint", store, inFlight, perSecond });

const RUN: readonly Measurement[] = [
  figure({ bench: "raw-commit", system: "raw", store: "sqlite", inFlight: 1, perSecond: 2_000 }),
  ours("sqlite", 64, 6_000),
  ours("sqlite", 1, 500),
  ours("postgres", 64, 3_000),
  figure({
    bench: "decision-to-effect",
    system: "holdpoint",
    store: "sqlite",
    inFlight: 1,
    variant: "one-process",
    p50: 3,
  }),
  figure({
    bench: "decision-to-effect",
    system: "holdpoint",
    store: "sqlite",
    inFlight: 1,
    variant: "two-processes",
    p50: 60,
  }),
  peer("openworkflow", "sqlite", 1_000),
  peer("openworkflow", "postgres", 1_500),
  peer("dbos", "postgres", 1_200),
  peer("restate", "own", 2_000),
  peer("restate", "own", 9_000, "2-partitions"),
];

test("the figures are judged against the best peer, half the raw commits and the two times", () => {
  const judged = targetsOf(RUN).map((target) => [target.value, judge(target)]);
  assert.deepEqual(judged, [
    [6, "met"],
    [3, "met, aim missed"],
    [6_000 / 9_000, ""],
    [2, "met"],
    [0.5, "missed"],
    [3, "met"],
    [60, "missed"],
  ]);
});

test("a claim whose figures are missing is not made", () => {
  assert.deepEqual(
    targetsOf(RUN.filter(({ system }) => system === "holdpoint")).map(({ unit }) => unit),
    ["ms", "ms"],
  );
});

test("the table shows every measurement and every judgement", () => {
  const text = report(RUN);
  assert.match(text, /guarded-call +holdpoint +sqlite +64 +6,000/);
  assert.match(text, /of half the raw commits +0\.50 × +at least 0\.6, aim 0\.8 +missed/);
});

test("a line of JSON has the medians of the windows", () => {
  const [one] = casesOf("guarded-call");
  assert.ok(one);
  const window = { calls: 1, perSecond: 10, p50: 1, p99: 5, driverCpu: 7, serverCpu: 0 };
  const windows = [window, { ...window, perSecond: 30 }, { ...window, perSecond: 20, p99: 6 }];
  assert.deepEqual(JSON.parse(jsonLine(measurementOf(one, windows))), {
    bench: "guarded-call",
    system: "holdpoint",
    store: "sqlite",
    in_flight: 64,
    per_second: 20,
    p50_ms: 1,
    p99_ms: 5,
    cpu_us_per_call: 7,
    server_cpu_us_per_call: 0,
    windows: [10, 30, 20],
  });
});

test("an answer is read when it is whole, in however many parts it comes", () => {
  const whole = Buffer.from("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200");
  for (let end = 0; end < 43; end++) assert.equal(readReply(whole.subarray(0, end)), undefined);
  const read = readReply(whole);
  assert.equal(read?.reply.status, 201);
  assert.equal(String(read?.reply.body), "{}");
  assert.equal(String(whole.subarray(read?.end)), "HTTP/1.1 200");
  assert.throws(() => readReply(Buffer.from("HTTP/1.1 200 OK\r\n\r\n")), /without a length/);
});

test("proposals over HTTP are judged beside the bare route on the same store", () => {
  const of = (system: "holdpoint" | "raw", store: "sqlite" | "postgres", perSecond: number): Measurement => ({
    ...{ bench: "http-propose", system, store, inFlight: 64, variant: null, perSecond },
    ...{ p50: 1, p99: 2, driverCpu: 3, serverCpu: 4, windows: [perSecond] },
  });
  const figures = [of("raw", "sqlite", 100), of("holdpoint", "sqlite", 40), of("holdpoint", "postgres", 9)];
  const targets = targetsOf(figures);
  assert.deepEqual(
    targets.map((target) => [target.value, judge(target)]),
    [
      [0.4, "met"],
      [2, ""],
    ],
  );
});

test("every case has a name of its own, and Holdpoint's and the peers' never share a process", () => {
  const cases = casesOf(null);
  assert.equal(new Set(cases.map(nameOf)).size, cases.length);
  for (const one of cases)
    for (const two of cases) if (driverOf(one) === driverOf(two)) assert.equal(one.system, two.system);
});

test("the command line is read, and what is not known is refused", () => {
  const quick = readArguments(["--quick", "--json", "--only", "durable-step"]);
  assert.ok(
    quick.kind === "run" && quick.json && quick.only === "durable-step" && quick.pace.windowMs < 1_000,
  );
  const full = readArguments([]);
  assert.ok(full.kind === "run" && full.only === null);
  assert.deepEqual(full.pace, { warmUpMs: 5_000, runUpMs: 500, windowMs: 20_000, rounds: 3 });
  for (const args of [["--fast"], ["--only", "everything"], ["--only"], ["raw-commit"]])
    assert.equal(readArguments(args).kind, "refused", args.join(" "));
});

test("a flag that is not known ends the program with 2 and the help, before anything is started", () => {
  const done = spawnSync(process.execPath, [join(BENCH, "main.ts"), "--fast"], { encoding: "utf8" });
  assert.equal(done.status, 2);
  assert.equal(done.stdout, "");
  assert.match(done.stderr, /--fast[\s\S]*--only <bench>/);
});

test("a driver measures windows in a process of its own", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-test-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const place = { bench: "raw-same-rows", store: "sqlite", variant: null, folder, database: null } as const;
  const driver = await startDriver({ module: "./systems/raw-sqlite.ts", place });
  context.after(() => driver.close());
  assert.match(driver.durability, /WAL, synchronous=FULL/);
  for (const variant of [null, "batched"]) {
    const window = await driver.measure({ inFlight: 4, variant, runUpMs: 1, windowMs: 20 });
    assert.ok(window.calls > 0 && window.perSecond > 0 && window.p99 >= window.p50);
  }
});

test("a system that cannot start says why", async () => {
  const place = {
    bench: "raw-commit",
    store: "postgres",
    variant: null,
    folder: "",
    database: null,
  } as const;
  const starting = startDriver({ module: "./systems/raw-postgres.ts", place });
  await assert.rejects(starting, /the raw PostgreSQL needs a database/);
});

test("what is measured beside is installed without scripts, registry-free and apart from Holdpoint", () => {
  const lock = JSON.parse(readFileSync(join(BENCH, "package-lock.json"), "utf8")) as {
    packages: Record<
      string,
      { resolved?: string; integrity?: string; optionalDependencies?: Record<string, string> }
    >;
  };
  const packages = Object.entries(lock.packages).filter(([place]) => place !== "");
  const names = new Set(packages.map(([place]) => place.replace(/^.*node_modules\//, "")));
  const incomplete = packages.filter(
    ([, { resolved, integrity, optionalDependencies = {} }]) =>
      resolved !== undefined ||
      integrity === undefined ||
      Object.keys(optionalDependencies).some((name) => !names.has(name)),
  );
  assert.deepEqual(incomplete, []);
  assert.match(readFileSync(join(BENCH, ".npmrc"), "utf8"), /^ignore-scripts=true$/m);
  const root = JSON.parse(readFileSync(join(BENCH, "../package.json"), "utf8")) as {
    workspaces: readonly string[];
  };
  assert.deepEqual(root.workspaces, ["toolchain", "dashboard"]);
});
