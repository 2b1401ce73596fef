// What `import "holdpoint"` costs: modules, processor time beside bare Node, and the source files that a gated call passes.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { Session } from "node:inspector/promises";
import { registerHooks } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

// What a user of the package loads, and the same from the sources, where each module is a file.
const ENTRY = pathToFileURL(path.resolve("dist/index.js")).href;
const SOURCE = pathToFileURL(path.resolve("src/index.ts")).href;
const RUNS = 10;
const SPENT = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);";

const cpuOf = (program) =>
  Number(
    execFileSync(process.execPath, ["--input-type=module", "-e", `${program}${SPENT}`], { encoding: "utf8" }),
  );
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];

// Alternating, so that what else the machine does falls on both.
const bare = [];
const loaded = [];
for (let run = 0; run < RUNS; run += 1) {
  bare.push(cpuOf(""));
  loaded.push(cpuOf(`await import(${JSON.stringify(ENTRY)});`));
}

async function modulesOf(entry) {
  const modules = new Set();
  const hooks = registerHooks({
    load(url, context, next) {
      if (!url.startsWith("node:")) modules.add(url);
      return next(url, context);
    },
  });
  await import(entry);
  hooks.deregister();
  return modules.size;
}
const chunks = await modulesOf(ENTRY);
const sources = await modulesOf(SOURCE);
const { holdpoint } = await import(SOURCE);

// Coverage counts since the last time it was taken, so the first answer leaves only what follows it.
async function filesOf(call) {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await call();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  return result
    .filter(
      ({ url, functions }) => url.includes("/src/") && functions.some(({ ranges }) => ranges[0].count > 0),
    )
    .map(({ url }) => url.replace(/^.*\/src\//, ""))
    .toSorted();
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-weight-"));
const hp = holdpoint({ folder, keyFile: path.join(folder, "key"), notify: () => undefined });
const greet = hp.gate({ name: "greet", policy: "approve", run: ({ who }) => `Hello, ${who}` });
for (let at = 0; at < 20; at += 1) await greet({ who: "Ann" }, { requestId: `warm-${at}` });
const files = await filesOf(() => greet({ who: "Ann" }, { requestId: "traced" }));
await hp.close();
fs.rmSync(folder, { recursive: true });

const [before, after] = [median(bare), median(loaded)];
console.log(`modules loaded by import "holdpoint": ${chunks}, made of ${sources} source files`);
console.log(
  `processor time, median of ${RUNS} runs: ${after.toFixed(1)} ms; bare Node ${before.toFixed(1)} ms: ${(after / before).toFixed(2)} times`,
);
console.log(`source files passed by a gated call that policy approves: ${files.length}`);
if (process.argv.includes("--list")) console.log([...files].join("\n"));
