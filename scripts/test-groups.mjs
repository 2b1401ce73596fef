// Test files that may share a process, put together: to load what they test takes longer than most of them.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SHARED = [
  "dashboard/src/",
  "src/agents/",
  "src/alerts/",
  "src/api/",
  "src/approvals/",
  "src/cli/",
  "src/effects/",
  "src/grants/",
  "src/journal/",
  "src/kernel/",
  "src/people/",
  "src/policy/",
  "src/runtime/",
  "src/workflows/",
  "tests/approvals/",
  "tests/backtest/",
  "tests/cli/",
  "tests/docs/",
  "tests/examples/",
  "tests/grants/",
  "tests/identity/",
  "tests/intents/",
  "tests/library/",
  "tests/outside/",
  "tests/policy/",
  "tests/previews/",
  "tests/regressions/",
  "tests/server/",
  "tests/supervise/",
  "tests/workflows/",
];

// What belongs to the whole process, and servers that would all be started at once.
const ALONE =
  /process\.(chdir|on|once|exit)\(|process\.env\[[^\]]*\] *=|delete process\.env|\bmock\.|\b(before|after)Each\b|memoryUsage|heapUsed|startPostgres|postgresBench/;

const MOST = 14;
const PREFIX = "holdpoint-groups-";

const homeOf = (file) => SHARED.find((folder) => file.startsWith(folder));
const isShared = (file) => homeOf(file) !== undefined && !ALONE.test(fs.readFileSync(file, "utf8"));

function write(group, files) {
  const imports = files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
  fs.writeFileSync(group, imports.join(""));
  return group;
}

function inParts(place, home, files) {
  const parts = Math.ceil(files.length / MOST);
  return Array.from({ length: parts }, (_, part) =>
    write(
      path.join(place, `${home.replaceAll("/", "-")}${part + 1}.test.mjs`),
      files.filter((_file, index) => index % parts === part),
    ),
  );
}

/** The same tests in fewer files, some of them in a folder that has to be removed. */
export function grouped(files) {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), PREFIX));
  const shared = new Set(files.filter(isShared));
  const groups = SHARED.flatMap((home) =>
    inParts(
      place,
      home,
      [...shared].filter((file) => homeOf(file) === home),
    ),
  );
  const remove = () => fs.rmSync(place, { recursive: true, force: true });
  return { files: [...groups, ...files.filter((file) => !shared.has(file))], remove };
}

/** The test files in a group, or undefined if it is none. */
export function membersOf(file) {
  if (!path.basename(path.dirname(file)).startsWith(PREFIX)) return undefined;
  const imports = fs.readFileSync(file, "utf8").matchAll(/^import "(.*)";$/gm);
  return [...imports].map(([, url]) => fileURLToPath(url));
}
