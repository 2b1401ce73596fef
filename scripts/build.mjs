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
    ...["package-lock.json", "tsconfig.json", "tsconfig.build.json"],
    ...["src", "examples/demos"].flatMap(filesBelow).filter(compiled),
  ],
  command: (fresh) => ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", fresh],
  arrange: arrangePackage,
  // The compiler writes everything, whatever it finds wrong with types.
  isWholeWithFaults: true,
};

const DESK = {
  out: "dashboard/dist",
  stamp: path.join("node_modules", ".desk-stamp"),
  lock: path.join("node_modules", ".desk.lock"),
  sources: () => [
    ...["package-lock.json", "dashboard/index.html", "dashboard/package.json", "src/kernel/text.ts"],
    ...fs
      .readdirSync("dashboard")
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `dashboard/${name}`),
    ...filesBelow("dashboard/src"),
    ...filesBelow("src/client").filter(compiled),
  ],
  command: (fresh) => [
    ...["node_modules/vite/bin/vite.js", "build", "dashboard", "--logLevel", "warn"],
    ...["--outDir", path.resolve(fresh), "--emptyOutDir"],
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
  const code = await runNode(target.command(fresh), { stdio: quiet ? "ignore" : "inherit" });
  target.arrange?.(fresh);
  if (code === 0 || target.isWholeWithFaults) replace(target.out, fresh);
  fs.rmSync(fresh, { recursive: true, force: true });
  if (code === 0) fs.writeFileSync(target.stamp, state);
  else fs.rmSync(target.stamp, { force: true });
  return code;
}

// The compiler keeps src/ and examples/demos/ apart. In the package the library lies in dist/, and the demos that its command plays in dist/demos/.
function arrangePackage(fresh) {
  const demos = path.join(fresh, "demos");
  if (!fs.existsSync(path.join(fresh, "src"))) return;
  fs.renameSync(path.join(fresh, "examples/demos"), demos);
  fs.rmSync(path.join(fresh, "examples"), { recursive: true });
  for (const name of fs.readdirSync(path.join(fresh, "src")))
    fs.renameSync(path.join(fresh, "src", name), path.join(fresh, name));
  fs.rmdirSync(path.join(fresh, "src"));
  for (const name of fs.readdirSync(demos)) redirect(path.join(demos, name), '"../../src/', '"../');
  redirect(path.join(fresh, "cli/first-steps.js"), '"../../examples/demos/', '"../demos/');
}

function redirect(file, from, to) {
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replaceAll(from, to));
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
