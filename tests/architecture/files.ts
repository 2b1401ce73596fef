import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceText } from "./source.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SKIPPED_FOLDERS =
  /^(?:node_modules|dist|dist\..*|coverage|\.git|\.holdpoint|\.npm-cache|\.install\.lock)$/;
/** `.git` is a file in a second work tree of a clone. */
const SKIPPED_FILES = /\.(?:tgz|log|tsbuildinfo)$|^(?:\.DS_Store|\.git)$/;

export function readRoot(file: string): string {
  return readFileSync(path.join(ROOT, file), "utf8");
}

/** Every text file below a folder of the repository, with its path from the root. */
export function readTree(folder: string): SourceText[] {
  const place = path.join(ROOT, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED_FOLDERS.test(entry.name) ? [] : readTree(name);
    if (!entry.isFile() || SKIPPED_FILES.test(entry.name)) return [];
    const text = readRoot(name);
    return text.includes("\0") ? [] : [{ path: name, text }];
  });
}
