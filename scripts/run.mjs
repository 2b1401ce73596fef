// Behind every npm script. No dependencies, and readable by Node 18, because it runs before anything is installed:
// install what is missing, build what is stale, then run the wanted command on Node 24.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { filesBelow } from "./files.mjs";
import { house } from "./house.mjs";
import { install } from "./install.mjs";
import { runNode, stopWithParent } from "./process.mjs";
import { grouped } from "./test-groups.mjs";

const TESTS = ["src", "tests", "dashboard/src"];
// The test files that compare what the code does with the fixtures below tests/pins/.
const PINS = ["tests/pins/", "tests/simulator/seeds.test.ts"];
const CLEANED = [
  ...["dist", "dashboard/dist", "coverage"],
  ...["node_modules/.build-stamp", "node_modules/.desk-stamp"],
];
// Test files at the same time: more than the usual two cores, because many of them wait.
const AT_ONCE = 3;

// Whoever says what the server runs, judges by or writes to has something of their own in mind.
const OWN = {
  flags: /^--(example|definitions|policy|database|help)(=|$)/,
  variables: [
    ...["HOLDPOINT_EXAMPLE", "HOLDPOINT_DEFINITIONS", "HOLDPOINT_POLICY"],
    ...["HOLDPOINT_DATABASE", "HOLDPOINT_DATABASE_FILE", "DATABASE_URL"],
  ],
};

// Longer proofs, each behind its own command.
const proofs = {
  sim: "tests/simulator/main.ts",
  processes: "tests/processes/run.ts",
  crash: "tests/crash/run.ts",
  fleet: "tests/fleet/run.ts",
  scale: "tests/scale/run.ts",
  "scale:fleet": "tests/scale/fleet/run.ts",
  backtest: "tests/backtest/run.ts",
  tamper: "tests/verify/tamper.ts",
  powerloss: "tests/powerloss/run.ts",
  restore: "tests/restore/run.ts",
  hostile: "tests/http/hostile/run.ts",
  soak: "tests/soak/run.ts",
  upgrade: "tests/upgrades/rolling/run.ts",
  screenshots: "tests/browser/screenshots.ts",
  bench: "bench/main.ts",
  generate: "scripts/generate.ts",
};
const proofCommands = Object.fromEntries(
  Object.entries(proofs).map(([name, program]) => [name, (args) => runNode([program, ...args])]),
);
const commands = {
  ...{ start, test, pins, dashboard, check, lint, types, format, weight, build: buildAll, clean },
  ...proofCommands,
};

process.chdir(path.resolve(path.dirname(fileURLToPath(import.meta.url)), ".."));
stopWithParent();
const [name, ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
if (command === undefined) {
  console.error(`unknown command ${name}; there are: ${Object.keys(commands).join(", ")}`);
  process.exit(1);
}
if (command !== clean) await install();
process.exitCode = await command(args);

async function start(args) {
  return (await build()) || runNode(["bin/holdpoint.mjs", "serve", ...example(args), ...args]);
}

function example(args) {
  const isSaid = OWN.variables.some((name) => (process.env[name] ?? "") !== "");
  return isSaid || args.some((arg) => OWN.flags.test(arg)) ? [] : ["--example"];
}

// The sources of the desk, as they change, beside a server on its usual port.
function dashboard(args) {
  return runNode(["node_modules/vite/bin/vite.js", "dashboard", ...args]);
}

async function test(args) {
  const filters = args.filter((arg) => !arg.startsWith("-"));
  const options = args.filter((arg) => arg.startsWith("-"));
  const files = testFiles(filters);
  if (files.length === 0) {
    console.error(
      `no test file matches ${filters.join(" ") || "src, tests and dashboard/src"}\n0 passed, 0 failed`,
    );
    return 1;
  }
  const failed = args.length > 0 ? await buildLeniently() : await failedChecks();
  const runner = ["--test", `--test-concurrency=${AT_ONCE}`, "--test-reporter=./scripts/test-reporter.mjs"];
  // Every test file, and every process that a test starts, loads the same sources.
  const compiled = path.resolve("node_modules/.cache/node");
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env, HOLDPOINT_FAILED_CHECKS: failed.join() };
  if (filters.length > 0) return runNode([...runner, ...options, ...files], { env });
  const { files: all, remove } = grouped(files);
  return runNode([...runner, ...options, ...all], { env }).finally(remove);
}

function pins(args) {
  const isUpdate = args.includes("--update");
  if (isUpdate) process.env.HOLDPOINT_PINS = "update";
  return test([...PINS, ...args.filter((arg) => arg !== "--update")]);
}

// Work on one file must not wait until the rest of the tree compiles.
async function buildLeniently() {
  if ((await build({ quiet: true })) !== 0) console.error('it does not build ("npm run build" says why)');
  return [];
}

async function failedChecks(options = []) {
  const failed = [];
  if ((await lint([])) !== 0) failed.push("lint");
  if ((await types([])) !== 0) failed.push("types");
  if (house(options) !== 0) failed.push("house");
  return failed;
}

// `--lower` writes the limits of the counters down to what is there now.
async function check(args) {
  const options = args.filter((arg) => arg === "--lower");
  return (await failedChecks(options)).length === 0 ? 0 : 1;
}

function lint(args) {
  return runNode(["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", ...args]);
}

function format(args) {
  return runNode(["node_modules/@biomejs/biome/bin/biome", "check", "--write", ...args]);
}

// Examples import the package by its name, and so are checked against the built declarations.
async function types(args) {
  const compiler = (project, name) => {
    const kept = ["--incremental", "--tsBuildInfoFile", `node_modules/.cache/types-${name}.json`];
    return runNode(["node_modules/typescript/bin/tsc", "-p", project, ...kept, ...args]);
  };
  return (await build()) || (await compiler(".", "all")) || compiler("dashboard", "dashboard");
}

// Of the package as it is built.
async function weight(args) {
  return (await build({ quiet: true })) || runNode(["scripts/weight.mjs", ...args]);
}

function buildAll() {
  return build({ force: true });
}

function clean() {
  for (const place of CLEANED) fs.rmSync(place, { recursive: true, force: true });
  return 0;
}

function testFiles(filters) {
  const isWanted = (file) => filters.length === 0 || filters.some((filter) => file.includes(filter));
  return TESTS.flatMap(filesBelow).filter((file) => file.endsWith(".test.ts") && isWanted(file));
}
