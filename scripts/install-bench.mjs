// Installs the systems that Holdpoint is measured beside, once for a lock file and a platform. Only the bench calls it.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { npm } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { stopWithParent } from "./process.mjs";

const FOLDER = "bench";
const STAMP = path.join(FOLDER, "node_modules", ".install-stamp");
const ARGS = ["ci", "--ignore-scripts", "--include=optional", "--no-engine-strict", "--loglevel=error"];

process.chdir(path.resolve(path.dirname(fileURLToPath(import.meta.url)), ".."));
stopWithParent();
if (!isInstalled()) process.exitCode = await withLock(() => (isInstalled() ? 0 : installNow()));

async function installNow() {
  console.log("installing the systems to measure beside");
  const code = await npm(ARGS, FOLDER);
  if (code === 0) fs.writeFileSync(STAMP, fingerprint());
  else console.error(`their installation failed ("npm ci" in ${FOLDER}); see above`);
  return code;
}

function isInstalled() {
  return fs.existsSync(STAMP) && fs.readFileSync(STAMP, "utf8") === fingerprint();
}

function fingerprint() {
  const lock = fs.readFileSync(path.join(FOLDER, "package-lock.json"));
  return createHash("sha256").update(lock).update([process.platform, process.arch].join()).digest("hex");
}
