#!/usr/bin/env node
// Plain ES2020 on purpose: an old Node has to be able to read this file in order to hand over to a newer one.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const OLDEST_NODE = 24;
const here = path.dirname(fileURLToPath(import.meta.url));

const handedOver = process.env.HOLDPOINT_HANDED_OVER === "1";
delete process.env.HOLDPOINT_HANDED_OVER;

if (Number(process.versions.node.split(".")[0]) >= OLDEST_NODE) {
  run().catch(crash);
} else {
  handOver();
}

async function run() {
  silenceSqliteWarning();
  // The only command that needs nothing of the program.
  if (process.argv.length === 3 && process.argv[2] === "--version") return console.log(ownVersion());
  const source = path.join(here, "..", "src", "cli", "main.ts");
  const built = path.join(here, "..", "dist", "cli", "main.js");
  // Compiled code is kept from one command to the next, beside the program: what may write there may change the program
  // too. Where this process may not, it compiles again.
  const kept = existsSync(source)
    ? path.join(here, "..", "node_modules", ".cache", "node")
    : path.join(here, "..", ".cache");
  if (process.env.NODE_COMPILE_CACHE === undefined) module.enableCompileCache(kept);
  const { main } = await import(pathToFileURL(existsSync(source) ? source : built).href);
  process.exitCode = await main(process.argv.slice(2));
}

function ownVersion() {
  return JSON.parse(readFileSync(path.join(here, "..", "package.json"), "utf8")).version;
}

function crash(error) {
  console.error(error);
  process.exitCode = 1;
}

function silenceSqliteWarning() {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    const isSqlite = rest[0] === "ExperimentalWarning" && String(warning).startsWith("SQLite ");
    if (!isSqlite) emitWarning(warning, ...rest);
  };
}

function handOver() {
  const node = handedOver ? undefined : newerNode();
  if (node === undefined) {
    console.error(
      `holdpoint needs Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}.\n` +
        `Install Node ${OLDEST_NODE} (https://nodejs.org), or, in a clone of Holdpoint on Linux or Windows, run "npm ci", which brings it.`,
    );
    process.exit(1);
  }
  const env = { ...process.env, HOLDPOINT_HANDED_OVER: "1" };
  // Parsing extra certificates costs the child 70 ms at every start.
  delete env.NODE_EXTRA_CA_CERTS;
  const self = fileURLToPath(import.meta.url);
  mirror(spawn(node, [...process.execArgv, self, ...process.argv.slice(2)], { stdio: "inherit", env }));
}

function newerNode() {
  const windows = process.platform === "win32";
  const platformPackage = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const places = [[platformPackage, "bin", windows ? "node.exe" : "node"]];
  if (!windows) places.push([".bin", "node"]);
  for (let folder = here; ; folder = path.dirname(folder)) {
    for (const place of places) {
      const file = path.join(folder, "node_modules", ...place);
      if (existsSync(file)) return file;
    }
    if (folder === path.dirname(folder)) return undefined;
  }
}

function mirror(child) {
  // A terminal sends its interrupt to the whole group, so the child has it already.
  const interrupt = () => process.stdin.isTTY || child.kill("SIGINT");
  const forward = (signal) => child.kill(signal);
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", forward);
  process.on("SIGHUP", forward);
  child.on("error", crash);
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
