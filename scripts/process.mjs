// Which Node to run, and how to run a child that never outlives us.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const OLDEST_NODE = 24;
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };
const PARENT_CHECK_MS = 300;
const GRACE_MS = 10_000;

const children = new Set();
const abis = new Map();

/** The Node of the private workspace, else this one if it is new enough, else undefined. */
export function projectNode() {
  const windows = process.platform === "win32";
  const folder = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const file = path.resolve("node_modules", folder, "bin", windows ? "node.exe" : "node");
  if (fs.existsSync(file)) return file;
  return Number(process.versions.node.split(".")[0]) >= OLDEST_NODE ? process.execPath : undefined;
}

export const missingNode =
  `Holdpoint needs Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}, ` +
  `and npm brings none for ${process.platform}-${process.arch}.\n` +
  `Install Node ${OLDEST_NODE} (https://nodejs.org) and run the command again.`;

export function abiOf(node) {
  if (node === process.execPath) return process.versions.modules;
  if (!abis.has(node)) {
    const env = withoutExtraCertificates(process.env);
    const { stdout } = spawnSync(node, ["-p", "process.versions.modules"], { encoding: "utf8", env });
    abis.set(node, stdout?.trim());
  }
  return abis.get(node);
}

/** Runs a program in the foreground and gives its exit code. */
export function run(file, args, { env = process.env, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: "inherit", env, ...options });
    children.add(child);
    child.on("error", (error) => {
      children.delete(child);
      console.error(error.message);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      children.delete(child);
      resolve(code ?? 128 + (SIGNALS[signal] ?? 0));
    });
  });
}

export function runNode(args, { env = process.env, ...options } = {}) {
  const flags = ["--disable-warning=ExperimentalWarning"];
  return run(projectNode(), [...flags, ...args], { env: withoutExtraCertificates(env), ...options });
}

export function stopWithParent() {
  // A terminal sends its interrupt to the whole group, so the children have it already.
  process.on("SIGINT", () => (process.stdin.isTTY && children.size > 0) || stop("SIGINT"));
  process.on("SIGTERM", stop);
  process.on("SIGHUP", stop);
  // npm hands a SIGTERM only to its shell; the shell dies and would leave us behind.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop("SIGTERM");
    setTimeout(stop, GRACE_MS, "SIGKILL").unref();
  }, PARENT_CHECK_MS);
  watch.unref();
}

function stop(signal) {
  for (const child of children) child.kill(signal);
  if (children.size === 0) process.exit(128 + SIGNALS[signal]);
}

// Parsing extra certificates costs every Node 70 ms at its start.
function withoutExtraCertificates(env) {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = env;
  return rest;
}
