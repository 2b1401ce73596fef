// Builds what is stale: the package into dist, the desk into dashboard/dist. Each is built when a file that it is made from has
// changed, come or gone since the last time.
import fs from "node:fs";
import path from "node:path";
import { filesBelow } from "./files.mjs";
import { withLock } from "./lock.mjs";
import { runNode } from "./process.mjs";

const compiled = (file) => /(?<!\.test)\.ts$/.test(file);

const PACKAGE = {
  out: "dist",
  stamp: path.join("node_modules", ".build-stamp"),
  sources: () => [
    ...["package-lock.json", "tsconfig.json", "tsconfig.build.json", "scripts/bundle.mjs"],
    ...["src", "examples/demos"].flatMap(filesBelow).filter(compiled),
  ],
  // Declarations, then programs: these are whole, whatever the compiler finds wrong with types.
  commands: (fresh) => [
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", fresh],
    ["scripts/bundle.mjs", fresh],
  ],
};

const DESK = {
  out: "dashboard/dist",
  stamp: path.join("node_modules", ".desk-stamp"),
  lock: path.join("node_modules", ".desk.lock"),
  sources: () => [
    ...["package-lock.json", "dashboard/index.html", "dashboard/package.json"],
    ...["src/kernel/text.ts", "src/kernel/registry.ts"],
    ...fs
      .readdirSync("dashboard")
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `dashboard/${name}`),
    ...filesBelow("dashboard/src"),
    ...filesBelow("src/client").filter(compiled),
  ],
  commands: (fresh) => [
    [
      ...["node_modules/vite/bin/vite.js", "build", "dashboard", "--logLevel", "warn"],
      ...["--outDir", path.resolve(fresh), "--emptyOutDir"],
    ],
  ],
};

/** What is stale of both, or with `force` both anyway. Gives the code of the first that fails. */
export async function build(options = {}) {
  const code = await buildOne(PACKAGE, options);
  return (await buildOne(DESK, options)) || code;
}

async function buildOne(target, { force = false, quiet = false }) {
  if (!force && isBuilt(target)) return 0;
  return withLock(() => (!force && isBuilt(target) ? 0 : buildNow(target, quiet)), target.lock);
}

async function buildNow(target, quiet) {
  const state = stateOf(target);
  const fresh = `${target.out}.${process.pid}`;
  const codes = [];
  for (const command of target.commands(fresh))
    codes.push(await runNode(command, { stdio: quiet ? "ignore" : "inherit" }));
  if (codes.at(-1) === 0) replace(target.out, fresh);
  fs.rmSync(fresh, { recursive: true, force: true });
  const code = codes.find((one) => one !== 0) ?? 0;
  if (code === 0) fs.writeFileSync(target.stamp, state);
  else fs.rmSync(target.stamp, { force: true });
  return code;
}

// Into a folder of its own first: nobody sees half a build, and outputs of deleted sources go away.
function replace(target, fresh) {
  if (!fs.existsSync(fresh)) return;
  const old = `${fresh}.old`;
  if (fs.existsSync(target)) fs.renameSync(target, old);
  fs.renameSync(fresh, target);
  fs.rmSync(old, { recursive: true, force: true });
}

function isBuilt(target) {
  const { out, stamp } = target;
  return fs.existsSync(out) && fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === stateOf(target);
}

const stateOf = ({ sources }) => sources().map(describe).join("\n");

function describe(file) {
  const { mtimeMs, size } = fs.statSync(file);
  return `${file} ${mtimeMs} ${size}`;
}
