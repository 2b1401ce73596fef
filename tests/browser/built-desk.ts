/** The desk as it is served: built anew where a source of it has changed since. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");
const BUILT = join(ROOT, "dashboard/dist/index.html");
const SOURCES = [
  "dashboard/src",
  "dashboard/index.html",
  "dashboard/vite.config.ts",
  "src/client",
  "src/kernel",
];

function newestOf(place: string): number {
  const found = statSync(place);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(place).map((name) => newestOf(join(place, name))));
}

function isBuilt(): boolean {
  if (!existsSync(BUILT)) return false;
  const built = statSync(BUILT).mtimeMs;
  return SOURCES.every((source) => newestOf(join(ROOT, source)) <= built);
}

/** `npm test` has built it before; this is for whoever runs one file by itself. */
export async function buildDesk(): Promise<void> {
  if (isBuilt()) return;
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  await promisify(execFile)(process.execPath, [vite, "build", join(ROOT, "dashboard")], { cwd: ROOT });
}
