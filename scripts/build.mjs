// Compiles src to dist when a source file has changed, come or gone since the last build.
import fs from "node:fs";
import path from "node:path";
import { filesBelow } from "./files.mjs";
import { withLock } from "./lock.mjs";
import { runNode } from "./process.mjs";

const OUT = "dist";
const STAMP = path.join("node_modules", ".build-stamp");
const CONFIG = ["package-lock.json", "tsconfig.json", "tsconfig.build.json"];

export async function build({ force = false, quiet = false } = {}) {
  if (!force && isBuilt()) return 0;
  return withLock(() => (!force && isBuilt() ? 0 : buildNow(quiet)));
}

async function buildNow(quiet) {
  const state = sources();
  const fresh = `${OUT}.${process.pid}`;
  const compiler = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", fresh];
  const code = await runNode(compiler, { stdio: quiet ? "ignore" : "inherit" });
  replace(OUT, fresh);
  if (code === 0) fs.writeFileSync(STAMP, state);
  else fs.rmSync(STAMP, { force: true });
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

function isBuilt() {
  return fs.existsSync(OUT) && fs.existsSync(STAMP) && fs.readFileSync(STAMP, "utf8") === sources();
}

function sources() {
  const compiled = filesBelow("src").filter((file) => /(?<!\.test)\.ts$/.test(file));
  return [...CONFIG, ...compiled].map(describe).join("\n");
}

function describe(file) {
  const { mtimeMs, size } = fs.statSync(file);
  return `${file} ${mtimeMs} ${size}`;
}
