// Counts what makes the tree hard to read, against limits that only go down (tests/architecture/limits.json).
// Source is read as text with regular expressions, so a count is within a few of the truth; the limits are made by the same counts.
import fs from "node:fs";
import path from "node:path";
import { CAPABILITIES, inspectCapability, NO_VERBS } from "./capabilities.mjs";
import { filesBelow } from "./files.mjs";

const LIMITS = "tests/architecture/limits.json";
const CODE = /\.(?:ts|tsx|mts|mjs)$/;
const READ = ["src", "dashboard/src", "tests", "scripts", "bin", "examples", "bench", "deploy", "verifier"];
/** What users of the package import, and what its command runs: no file here has to import their names. */
const DOORS = [
  ...["src/index.ts", "src/admin.ts", "src/client/client.ts", "src/postgres.ts", "src/testing/testing.ts"],
  ...["src/verify.ts", "src/cli/main.ts"],
];
/** Folders with more files than this have a limit of their own, or fail. */
const FILES_PER_FOLDER = 25;
const SHORT_FILE = 60;
/** Verbs that neither decide nor only read: were there more, every verb would become one. */
const MOST_RUN_VERBS = 25;

const isTest = (file) => /\.test\.tsx?$/.test(file) || /^(?:tests|bench)\//.test(file);
/** The simulator and the store's contract are made for tests, though they are shipped. */
const isBench = (file) => isTest(file) || file.startsWith("src/testing/");
const isSource = (file) => file.startsWith("src/") && !isTest(file);
const isOurs = (file) => /^(?:src|dashboard\/src)\//.test(file) && !isTest(file);
const lineCount = (text) => text.split("\n").length - 1;

// Imports.

const FROM = /^\s*(?:import|export)\s+(?:type\s+)?([\w*{][^;"]*?)\s*\bfrom\s+"(\.[^"]+)"/gm;
const DYNAMIC = /(?:\{([^{}]*)\}\s*=\s*await\s+)?\bimport\(\s*"(\.[^"]+)"\s*\)(?:\.(\w+))?/g;
const BARE = /^\s*import\s+"(\.[^"]+)"|new URL\("(\.[^"]+\.(?:ts|mjs))"/gm;

/** `{ a, type B, c as d }`: a, B, c. Anything else may use every name. */
function namesIn(clause) {
  const list = /\{([^{}]*)\}/.exec(clause)?.[1];
  if (list === undefined || clause.includes("*")) return ["*"];
  const names = list.split(",").map((part) => part.trim().replace(/^type\s+/, ""));
  return names.filter((name) => name !== "").map((name) => name.split(/\s+as\s+|\s*:/)[0]);
}

function findImports(file, text) {
  const target = (specifier) => path.posix.join(path.posix.dirname(file), specifier);
  return [
    ...[...text.matchAll(FROM)].map(([, clause, from]) => ({ target: target(from), names: namesIn(clause) })),
    ...[...text.matchAll(DYNAMIC)].map(([, list, from, member]) => ({
      target: target(from),
      names: member === undefined ? namesIn(list === undefined ? "*" : `{${list}}`) : [member],
    })),
    ...[...text.matchAll(BARE)].map(([, from, url]) => ({ target: target(from ?? url), names: [] })),
  ];
}

const DECLARED =
  /^export\s+(?:declare\s+)?(?:async\s+)?(?:function\*?|const|let|class|type|interface)\s+(\w+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}\s*;/gm;

function findExports(text) {
  const listed = [...text.matchAll(LISTED)].flatMap(([, list]) => list.split(","));
  const names = listed.map((part) =>
    part
      .trim()
      .replace(/^type\s+/, "")
      .split(/\s+as\s+/)
      .at(-1),
  );
  return [...[...text.matchAll(DECLARED)].map(([, name]) => name), ...names.filter((name) => name !== "")];
}

/** Of each file: who imports it, and which of its names. */
function readImports(files) {
  const uses = new Map();
  for (const [file, text] of files)
    for (const { target, names } of findImports(file, text)) {
      if (target === file) continue;
      const known = uses.get(target) ?? [];
      uses.set(target, known);
      known.push({ by: file, names });
    }
  return uses;
}

// Counters: each answers the items that it counts.

function exportCounts(files, uses) {
  const dead = [];
  const onlyTested = [];
  const owners = new Map();
  for (const [file, text] of files) {
    if (!isSource(file) || DOORS.includes(file)) continue;
    for (const name of findExports(text)) {
      owners.set(name, [...(owners.get(name) ?? []), file]);
      const users = (uses.get(file) ?? []).filter(({ names }) => names.includes(name) || names.includes("*"));
      if (users.length === 0) dead.push(`${file} ${name}`);
      else if (!isBench(file) && users.every(({ by }) => isBench(by))) onlyTested.push(`${file} ${name}`);
    }
  }
  const homonyms = [...owners].filter(([, where]) => where.length > 1);
  return { dead, onlyTested, homonyms: homonyms.map(([name, where]) => `${name} ${where.join(" ")}`) };
}

/** Lists a file for each of its entries, by hand. */
const TABLE = "src/notify/channels.ts";
/** A table lists every file of its kind. */
const isGenerated = (text) => /^\/\*\*[\s*]*Made (?:from [^\n]* )?by `npm run generate`/.test(text);

function lonelyFiles(files, uses) {
  return [...files].flatMap(([file, text]) => {
    if (!isSource(file) || lineCount(text) >= SHORT_FILE) return [];
    const importers = new Set((uses.get(file) ?? []).map(({ by }) => by).filter((by) => !isTest(by)));
    const isListed = [...importers].every((by) => by === TABLE || isGenerated(files.get(by)));
    if (isListed || isGenerated(text)) return [];
    return importers.size === 1 ? [`${file} ${lineCount(text)} lines, of ${[...importers][0]}`] : [];
  });
}

function wideFolders(files) {
  const widths = new Map();
  for (const file of [...files.keys()].filter(isOurs)) {
    const folder = path.posix.dirname(file);
    widths.set(folder, (widths.get(folder) ?? 0) + 1);
  }
  return Object.fromEntries([...widths].filter(([, width]) => width > FILES_PER_FOLDER).sort());
}

const VAGUE_TYPE =
  /^\s*(?:export\s+)?(?:type|interface|class)\s+(Place|Asked|Said|Told|Found|Known|Given|Seen)\b/gm;
const OF_FUNCTION =
  /\bfunction\*?\s+(\w+Of)\b|\bconst\s+(\w+Of)\s*(?::[^=\n]+)?=\s*(?:async\s+)?(?:\(|\w+\s*=>|<)/g;

const declarations = (files, pattern) =>
  [...files].flatMap(([file, text]) =>
    isOurs(file) ? [...text.matchAll(pattern)].map((match) => `${file} ${match[1] ?? match[2]}`) : [],
  );

// Vocabulary.

const VAGUE =
  /\b(?:whoever|whomever|whatever|whichever|somebody|nobody|anew|what\s+became\s+of|it\s+stands|is\s+over|taken\s+back)\b/gi;
const TOKEN =
  /\/\*[\s\S]*?\*\/|(?<![:"'`\\])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=>)[^<>{}]*[a-z] [a-z][^<>{}]*(?=<)/g;
const PAGES = /^(?:README|ARCHITECTURE|CONTRIBUTING|CHANGELOG)\.md$|^docs\/(?:guide|reference)\/.*\.md$/;

/** Comments, and texts of at least three words. */
function collectProse(files) {
  const comments = [];
  const strings = [];
  for (const [file, text] of files) {
    if (!isOurs(file)) continue;
    for (const [token] of text.matchAll(TOKEN)) {
      if (/^\/[/*]/.test(token)) comments.push(token);
      else if (/\w+\s+\w+\s+\w+/.test(token)) strings.push(token);
    }
  }
  return { comments: comments.join("\n"), strings: strings.join("\n") };
}

function vaguePerThousand(text) {
  const words = text.match(/[A-Za-z']+/g)?.length ?? 0;
  // Rounded up, so that a few words more or less of other text change nothing.
  return words === 0 ? 0 : Math.ceil((10_000 * (text.match(VAGUE)?.length ?? 0)) / words) / 10;
}

/** Only one file reads or follows the log of a store: `src/runtime/subscribe.ts`. */
const readsLog = ([file, text]) =>
  isSource(file) && !/^src\/(?:stores|testing)\//.test(file) && /\bstore\.(?:log|follow)\(/.test(text);

/** `files`: a map from path to text. Each counter is a list of items, a number, or a number for each folder. */
export function countHouse(files) {
  const uses = readImports(files);
  const { dead, onlyTested, homonyms } = exportCounts(files, uses);
  const { comments, strings } = collectProse(files);
  const docs = [...files].filter(([file]) => PAGES.test(file)).map(([, text]) => text);
  const sources = [...files.keys()].filter(isSource);
  const isLeft = (name) => inspectCapability(name, sources).state !== "converted";
  return {
    "capabilities that are not converted": CAPABILITIES.filter(isLeft),
    "dead exports": dead,
    "exports used by tests only": onlyTested,
    "exported homonyms": homonyms,
    "files with one importer and under 60 lines": lonelyFiles(files, uses),
    "types named Place, Asked, Said, Told, Found, Known, Given, Seen": declarations(files, VAGUE_TYPE),
    "functions that end in Of": declarations(files, OF_FUNCTION),
    "vague words per 1,000 in docs": vaguePerThousand(docs.join("\n")),
    "vague words per 1,000 in comments": vaguePerThousand(comments),
    "vague words per 1,000 in texts for users": vaguePerThousand(strings),
    "places that keep a cursor in the log": [...files].filter(readsLog).map(([file]) => file),
    "files per folder": wideFolders(files),
  };
}

/** The same with a number for each list. */
export function figures(counts) {
  const entries = Object.entries(counts);
  return Object.fromEntries(
    entries.map(([name, count]) => [name, Array.isArray(count) ? count.length : count]),
  );
}

/** One row for each counter and each wide folder. A folder without a limit may have as many files as any. */
export function compareLimits(counted, limits) {
  return Object.entries(counted).flatMap(([name, count]) => {
    if (typeof count === "number") return [{ name, count, limit: limits[name] ?? 0 }];
    const folders = new Set([...Object.keys(count), ...Object.keys(limits[name] ?? {})]);
    return [...folders].map((folder) => ({
      name: `files in ${folder}`,
      count: count[folder] ?? FILES_PER_FOLDER,
      limit: limits[name]?.[folder] ?? FILES_PER_FOLDER,
    }));
  });
}

/** Limits as low as the counts, and never higher than they were. */
export function lowered(counted, limits) {
  const lower = (count, limit) => (limit === undefined ? count : Math.min(count, limit));
  const entries = Object.entries(counted).map(([name, count]) => {
    if (typeof count === "number") return [name, lower(count, limits[name])];
    const before = limits[name];
    const kept = Object.entries(count).filter(([folder]) => before === undefined || folder in before);
    return [
      name,
      Object.fromEntries(kept.map(([folder, width]) => [folder, lower(width, before?.[folder])])),
    ];
  });
  return Object.fromEntries(entries);
}

function readTree() {
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", ...filesBelow("docs")];
  const code = READ.flatMap(filesBelow).filter((file) => CODE.test(file) && !file.includes("node_modules/"));
  const wanted = [...code, ...pages.filter((file) => PAGES.test(file))];
  return new Map(wanted.map((file) => [file, fs.readFileSync(file, "utf8")]));
}

/** Fails where a capability has both styles; prints what is converted and what is left. */
function reportCapabilities(files) {
  const all = CAPABILITIES.map((name) => inspectCapability(name, files));
  const named = (state) => all.filter((one) => one.state === state);
  const names = (found) => found.map(({ name }) => name).join(", ") || "none";
  const [done, left] = [named("converted"), named("left")];
  console.log(
    `capabilities converted: ${done.length} (${names(done)}); left: ${left.length} (${names(left)}); without verbs: ${Object.keys(NO_VERBS).join(", ")}`,
  );
  for (const { name, byHand } of named("both"))
    console.error(
      `house: ${name} has verbs, and ${byHand.join(", ")} beside them. Convert a capability whole.`,
    );
  return named("both").length;
}

/** The verbs of the form `run`, such as `grants.give`. */
export function runVerbs(files) {
  return [...files].flatMap(([file, text]) => {
    const capability = /^src\/(.+)\/verbs\.ts$/.exec(file)?.[1];
    if (capability === undefined) return [];
    return [...text.matchAll(/^\s*(\w+): (?:\w+\(\s*|\{\s*\.\.\.)?runVerb\(/gm)].map(
      ([, verb]) => `${capability}.${verb}`,
    );
  });
}

function reportRunVerbs(files) {
  const found = runVerbs(files);
  console.log(`verbs of the form run: ${found.length} of at most ${MOST_RUN_VERBS} (${found.join(", ")})`);
  if (found.length <= MOST_RUN_VERBS) return 0;
  console.error("house: too many verbs of the form run. Make them decide in the transaction, or read.");
  return 1;
}

function reportLimits(counted, limits) {
  const rows = compareLimits(counted, limits);
  const over = rows.filter(({ count, limit }) => count > limit);
  const under = rows.filter(({ count, limit }) => count < limit);
  for (const { name, count, limit } of over)
    console.error(
      `house: ${name}: ${count}, and the limit is ${limit}. List them: node scripts/house.mjs --list "${name}"`,
    );
  for (const { name, count, limit } of under)
    console.log(`house: ${name}: ${count}, under its limit of ${limit}`);
  if (under.length > 0) console.log("house: lower these limits with: npm run check -- --lower");
  return over.length;
}

/** 0 when every count is within its limit. `--lower` writes lower limits, `--list <counter>` prints what a counter counts. */
export function house(args = []) {
  const files = readTree();
  const counts = countHouse(files);
  if (args[0] === "--list") {
    const items = counts[args[1]];
    console.log(Array.isArray(items) ? items.join("\n") : JSON.stringify(items ?? figures(counts), null, 2));
    return 0;
  }
  const counted = figures(counts);
  const limits = fs.existsSync(LIMITS) ? JSON.parse(fs.readFileSync(LIMITS, "utf8")) : {};
  if (args.includes("--lower"))
    fs.writeFileSync(LIMITS, `${JSON.stringify(lowered(counted, limits), null, 2)}\n`);
  const now = args.includes("--lower") ? lowered(counted, limits) : limits;
  const capabilities = reportCapabilities([...files.keys()].filter(isSource));
  return reportLimits(counted, now) + capabilities + reportRunVerbs(files) === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === import.meta.filename)
  process.exitCode = house(process.argv.slice(2));
