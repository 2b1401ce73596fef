// Installs from the lock file when what is installed does not fit it, this platform or the Node that will run.
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { withLock } from "./lock.mjs";
import { abiOf, missingNode, projectNode, run } from "./process.mjs";

const STAMP = path.join("node_modules", ".install-stamp");
const PROJECT_CACHE = ".npm-cache";

// This run's own npm settings must not reach the nested npm; the user's way to the registry must.
const NPM_SETTING = /^npm_/i;
const REGISTRY_SETTING =
  /^npm_config_(registry|cafile|ca|cache|proxy|https?_proxy|noproxy|strict_ssl|offline|prefer_offline|userconfig|globalconfig|@.*|\/\/.*)$/i;

export async function install() {
  if (isInstalled()) return;
  await withLock(async () => {
    if (!isInstalled()) await installNow();
  });
}

async function installNow() {
  console.log("installing dependencies");
  const code = await npm([
    "ci",
    "--ignore-scripts",
    "--ignore-scripts",
    "--include=dev",
    "--include=optional",
    "--no-engine-strict",
    "--loglevel=error",
  ]);
  if (code !== 0) {
    console.error('the installation failed ("npm ci"); see above');
    process.exit(code);
  }
  if (projectNode() === undefined) {
    console.error(missingNode);
    process.exit(1);
  }
  fs.writeFileSync(STAMP, fingerprint());
}

function isInstalled() {
  if (projectNode() === undefined || !fs.existsSync(STAMP)) return false;
  return fs.readFileSync(STAMP, "utf8") === fingerprint();
}

function fingerprint() {
  const platform = [process.platform, process.arch, abiOf(projectNode())].join();
  return createHash("sha256").update(fs.readFileSync("package-lock.json")).update(platform).digest("hex");
}

/** Runs npm in a folder of the project. */
export function npm(args, cwd = ".") {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !NPM_SETTING.test(name) || REGISTRY_SETTING.test(name)),
  );
  if (!isWritable(env.npm_config_cache ?? path.join(os.homedir(), ".npm"))) {
    env.npm_config_cache = path.resolve(PROJECT_CACHE);
  }
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  // Not with the project's own Node: the installation replaces it while it would be running.
  if (script !== undefined && node !== undefined) return run(node, [script, ...args], { env, cwd });
  return run("npm", args, { env, cwd, shell: process.platform === "win32" });
}

// A folder that does not exist yet is as writable as the nearest one above it.
function isWritable(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch (error) {
    const above = path.dirname(folder);
    return error.code === "ENOENT" && above !== folder && isWritable(above);
  }
}
