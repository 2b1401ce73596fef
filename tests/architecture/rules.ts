// The walls between the rooms and the habits inside them, as pure functions over source texts.
import path from "node:path";
import { FOLDERS as CAPABILITIES } from "../../src/kernel/registry.ts";
import { lineAt } from "./lexer.ts";
import type { Import, Source } from "./source.ts";

export type Violation = {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
};
export type Rule = (sources: readonly Source[]) => Violation[];

/** What still goes upward without a port, from file to file. The list only becomes shorter. */
const UPWARD = new Set([
  "kernel/transaction.ts states.ts",
  "kill-switch/rules.ts effects/state.ts",
  "approvals/rules/card.ts approvals/card-schema.ts",
  "approvals/rules/card.ts workflows/events.ts",
  "approvals/rules/card.ts workflows/rules/ask.ts",
  "approvals/rules/card.ts workflows/rules/rollback.ts",
  "approvals/rules/card.ts workflows/state.ts",
  "effects/rules/advance.ts workflows/rules/calls.ts",
  "effects/rules/outcome.ts workflows/rules/calls.ts",
  "effects/rules/permit.ts workflows/rules/calls.ts",
  "effects/rules/propose.ts workflows/rules/calls.ts",
  "effects/rules/recover.ts workflows/rules/calls.ts",
  "effects/rules/review.ts workflows/state.ts",
  "workflows/rules/calls.ts agents/intents/stream.ts",
]);

/** Packages that pure files may import. */
const PURE_PACKAGES = new Set(["node:crypto", "zod"]);
const POLICY_PACKAGES = new Set(["@marcbachmann/cel-js", "re2js"]);
/** Pure by its name or its folder. `kernel/clock.ts` is the clock, `contract.ts` has types of asynchronous methods, `load-part.ts` loads code. */
const PURE =
  /^src\/(?:kernel|journal)\/(?!(?:clock|contract|load-part)\.ts$)|^src\/(?!client\/|api\/events\/)(?:.+\/)?(?:rules|stream|state|events)\.ts$|^src\/(?!cli\/).+\/rules\/|^src\/policy\/expression\/|^src\/(?:states|streams)\.ts$/;

/** Places where parts are put together: they may import everything. */
const COMPOSITIONS = new Set(
  [
    "index",
    "admin",
    "verify",
    "open",
    "parts",
    "contracts",
    "postgres",
    "serve",
    "work",
    "states",
    "streams",
    "verbs",
    "api/open-tenant-host",
  ].map((name) => `src/${name}.ts`),
);
const DOORS = new Set([...COMPOSITIONS, "src/client/client.ts", "src/testing/testing.ts"]);
/** The notifier skips events that this version cannot fold. */
const FOLDS_READER = "src/notify/make-messages.ts";
/** The routes of every contract are made from its verbs. */
const VERBS_READER = "src/api/routes.ts";
/** What others may import of the stores: the port. */
const STORE_PORT = "src/stores/store.ts";

/** Files of a capability that answer HTTP requests. */
const ANSWERS = /\/(?:[\w-]+-)?routes\.ts$|\/agents\/(?:creation-input|identify-agent|seed-forms)\.ts$/;

/** Folders that no capability knows, and by whom each is known. */
const OUTER: { readonly [folder: string]: (from: string) => boolean } = {
  api: (from) => from.startsWith("src/cli/") || ANSWERS.test(from),
  cli: (from) => from.startsWith("src/cli/"),
  client: (from) => /^src\/(?:client|cli)\//.test(from),
  testing: (from) => from.startsWith("src/testing/"),
};
const FOLDERS = [...CAPABILITIES, "kernel", "journal", "stores", "runtime", ...Object.keys(OUTER)];

const CAPS = { file: 400, testFile: 600, function: 60, parameters: 4 };

const CRYPTO_IN_CORE = new Set([
  "KeyObject",
  "createHash",
  "createHmac",
  "createPrivateKey",
  "createPublicKey",
  "createSecretKey",
  "hash",
  "sign",
  "timingSafeEqual",
  "verify",
]);

const IMPURE: readonly (readonly [string, RegExp])[] = [
  [
    "the clock",
    /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\w(\s]))|(?<!new\s+)(?<![.\w$])Date\s*\(/g,
  ],
  ["the clock", /\bperformance\s*\.\s*now\b|\bTemporal\s*\.\s*Now\b|\bhrtime\b/g],
  ["randomness", /\bMath\s*\.\s*random\b|\brandom(?:UUID|Bytes|Int|Fill|FillSync)\b|\bgetRandomValues\b/g],
  ["a timer", /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/g],
  [
    "async code",
    /(?<![.\w$])async\b(?!\s*[:?,}])|(?<![.\w$])await\b(?!\s*[:?,}])|(?<![.\w$]|\binstanceof\s)Promise\b/g,
  ],
  ["the process", /(?<![.\w$])process\s*(?:\.|\?\.|\[)|(?<![.\w$])globalThis\b/g],
  ["the network", /(?<![.\w$])fetch\s*\(/g],
  ["the console", /(?<![.\w$])console\b/g],
];

const BANNED_SYNTAX: readonly (readonly [string, RegExp])[] = [
  ["any", /(?:[:<|&=]|\bas)\s*any\b(?!\s*[(:.])|\bany\s*(?:\[\]|>)/g],
  ["enum", /\benum\s+[\w$]+\s*\{/g],
  ["namespace", /(?:^|[;{}\n])\s*(?:export\s+|declare\s+)*(?:namespace|module)\s+[\w$."']+\s*\{/g],
  ["decorator", /(?:^|[;{}\n])[ \t]*@[A-Za-z_$]/g],
];

const EMPTY_NAMES = new Set(["util", "utils", "helper", "helpers", "common", "misc"]);
const EMPTY_FILE_NAME = /(?:^|[-.])(?:manager|service|impl)$/i;
const EMPTY_DECLARATION =
  /\b(?:class|interface|type|function|const|let)\s+([\w$]*(?:Manager|Service|Impl))\b/g;
const UNFINISHED = /\b(?:TODO|FIXME|XXX)\b/g;

const isTest = (file: { readonly path: string }): boolean => /\.test\.tsx?$/.test(file.path);
const isShipped = (file: { readonly path: string }): boolean => !isTest(file);
const isPure = ({ path: file }: { readonly path: string }): boolean => PURE.test(file);

const folderIn = (file: string): string => /^src\/([a-z-]+)\//.exec(file)?.[1] ?? "";

/** Each file imports only what its folder and its name let it. */
export const imports: Rule = (sources) =>
  sources.filter(isShipped).flatMap((source) => {
    const isKnown = COMPOSITIONS.has(source.path) || FOLDERS.includes(folderIn(source.path));
    if (!isKnown) return [at(source, "imports", 1, "lies in no folder of the table")];
    return source.imports
      .filter((entry) => !isAllowed(source.path, entry))
      .map((entry) => at(source, "imports", entry.line, `may not import ${entry.specifier}`));
  });

function isAllowed(from: string, entry: Import): boolean {
  const { target, specifier } = entry;
  if (!specifier.startsWith(".")) return isPackageAllowed(from, target);
  // The demos are compiled beside the library.
  if (from.startsWith("src/cli/") && target.startsWith("examples/demos/")) return true;
  if (!target.startsWith("src/") || isTest({ path: target })) return false;
  if (COMPOSITIONS.has(from)) return true;
  if (isPure({ path: from })) return isBelow(from, target);
  return isAllowedOutside(from, entry);
}

function isPackageAllowed(from: string, name: string): boolean {
  if (from.startsWith("src/client/")) return name === "zod";
  if (!isPure({ path: from })) return true;
  return PURE_PACKAGES.has(name) || (folderIn(from) === "policy" && POLICY_PACKAGES.has(name));
}

/** How high a folder is: the kernel at the bottom, and a back-test above all that it replays. */
function heightOf(file: string): number {
  const order = ["kernel", "journal", "runtime", ...CAPABILITIES, "api"];
  return file.startsWith("src/policy/backtest/") ? order.length : order.indexOf(folderIn(file));
}

function isBelow(from: string, target: string): boolean {
  const local = (file: string) => file.replace(/^src\//, "");
  if (UPWARD.has(`${local(from)} ${local(target)}`)) return true;
  const isReadable = isPure({ path: target }) || /^src\/kernel\//.test(target);
  return isReadable && heightOf(target) >= 0 && heightOf(target) <= heightOf(from);
}

/** Files that act: the runtime, the port of a store and every capability; no server, no terminal, no store and no composition. */
function isAllowedOutside(from: string, { target, typeOnly }: Import): boolean {
  const [own, other] = [folderIn(from), folderIn(target)];
  if (own === other) return true;
  if (own === "stores") return other === "kernel" || other === "journal" || typeOnly;
  if (other === "stores")
    return target === STORE_PORT || (own === "testing" && !/sqlite|postgres/.test(target));
  if (own === "client") return typeOnly;
  if (COMPOSITIONS.has(target))
    return own === "cli" || own === "testing" || typeOnly || [FOLDS_READER, VERBS_READER].includes(from);
  return OUTER[other]?.(from) ?? true;
}

/** What makes strangers' text visible, and the words of the registry and of channels: they import nothing. */
const DESK_WORDS = new Set([
  ...["src/kernel/text.ts", "src/kernel/registry.ts", "src/notify/rules/channel-words.ts"],
]);

/** The desk is a room outside of `src/`: it has the client, what makes strangers' text visible, and what it declares. */
export function deskImports(declared: ReadonlySet<string>): Rule {
  const packageOf = (specifier: string): string =>
    specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/");
  const may = ({ specifier, target, typeOnly }: Import): boolean => {
    if (!specifier.startsWith("."))
      return specifier === "holdpoint/client" || declared.has(packageOf(specifier));
    if (target.startsWith("dashboard/src/")) return !isTest({ path: target });
    const isWord = target.startsWith("src/client/") || target === "src/kernel/json.ts";
    return DESK_WORDS.has(target) || (typeOnly && isWord);
  };
  return (sources) =>
    sources
      .filter(isShipped)
      .flatMap((source) =>
        source.imports
          .filter((entry) => !may(entry))
          .map((entry) => at(source, "imports", entry.line, `may not import ${entry.specifier}`)),
      );
}

const FROM_TEXT =
  /\b(?:dangerouslySetInnerHTML|(?:inner|outer)HTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcDoc)\b|\bdocument\s*\.\s*write(?:ln)?\b|(?<![.\w$])eval\s*\(|\bnew\s+Function\b/g;

/** Nothing that is shown or run is ever made of text. */
export const deskMarkup: Rule = (sources) =>
  sources.flatMap((source) =>
    matches(source, "markup", FROM_TEXT, (match) => `makes markup or code of text: ${match[0]}`),
  );

/** No file reaches itself through its imports. */
export const cycles: Rule = (sources) => {
  const graph = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (source: Source, trail: readonly string[]): void => {
    if (trail.includes(source.path)) {
      const loop = [...trail.slice(trail.indexOf(source.path)), source.path];
      found.push(at(source, "cycles", 1, loop.join(" -> ")));
    }
    if (trail.includes(source.path) || done.has(source.path)) return;
    for (const { target } of source.imports) {
      const next = graph.get(target);
      if (next !== undefined) visit(next, [...trail, source.path]);
    }
    done.add(source.path);
  };
  for (const source of sources) visit(source, []);
  return found;
};

/** Only the package's doors pass on what others export. */
export const barrels: Rule = (sources) =>
  sources
    .filter((source) => !DOORS.has(source.path))
    .flatMap((source) => {
      const stars = source.imports.filter((entry) => entry.reExport && entry.clause.startsWith("*"));
      const found = stars.map((entry) =>
        at(source, "barrels", entry.line, `export * from ${entry.specifier}`),
      );
      const onlyPassesOn = source.imports.some((entry) => entry.reExport) && ownCode(source) === "";
      return onlyPassesOn ? [...found, at(source, "barrels", 1, "only passes on what others export")] : found;
    });

function ownCode({ code }: Source): string {
  return code.replace(/\b(?:import|export)\b[\w\s{},*$]*["'][^"']*["']\s*;?/g, "").trim();
}

/** A name says what a thing is, not that it helps. */
export const names: Rule = (sources) =>
  sources.flatMap((source) => {
    const segments = source.path.split("/").map((segment) => segment.replace(/(?:\.test)?\.tsx?$/, ""));
    const empty = segments.filter(
      (name) => EMPTY_NAMES.has(name.toLowerCase()) || EMPTY_FILE_NAME.test(name),
    );
    return [
      ...empty.map((name) => at(source, "names", 1, `is named ${name}`)),
      ...matches(source, "names", EMPTY_DECLARATION, (match) => `declares ${match[1]}`),
    ];
  });

/** The core has no clock, no randomness, no input or output and no async code. */
export const purity: Rule = (sources) =>
  sources
    .filter((source) => isPure(source) && isShipped(source))
    .flatMap((source) => [
      ...IMPURE.flatMap(([what, pattern]) =>
        matches(source, "purity", pattern, (match) => `uses ${what}: ${match[0].trim()}`),
      ),
      ...source.imports
        .filter((entry) => entry.target === "node:crypto" && !isPureCrypto(entry))
        .map((entry) => at(source, "purity", entry.line, `imports ${entry.clause.trim()} from node:crypto`)),
    ]);

function isPureCrypto({ clause }: Import): boolean {
  const list = /^\{([^}]*)\}$/.exec(clause.trim())?.[1];
  const imported = list?.split(",").map(
    (name) =>
      name
        .trim()
        .replace(/^type\s+/, "")
        .split(/\s+/)[0] ?? "",
  );
  return imported?.every((name) => name === "" || CRYPTO_IN_CORE.has(name)) ?? false;
}

/** The contract suite is shipped, but it is made of tests: its `describe`s are as long as what they say. */
const isSuite = (source: Source): boolean => source.path.startsWith("src/testing/store-contract/");

/** Files, functions and lists of parameters stay short. */
export const caps: Rule = (sources) =>
  sources.flatMap((source) => {
    const lines = source.text.trimEnd().split("\n").length;
    const cap = isTest(source) ? CAPS.testFile : CAPS.file;
    const tooLong = lines > cap ? [at(source, "caps", 1, `has ${lines} lines, over ${cap}`)] : [];
    return isTest(source) || isSuite(source) ? tooLong : [...tooLong, ...functionCaps(source)];
  });

function functionCaps(source: Source): Violation[] {
  return source.functions.flatMap(({ line, lines, parameters }) => [
    ...(lines > CAPS.function
      ? [at(source, "caps", line, `function of ${lines} lines, over ${CAPS.function}`)]
      : []),
    ...(parameters > CAPS.parameters
      ? [at(source, "caps", line, `${parameters} parameters, over ${CAPS.parameters}`)]
      : []),
  ]);
}

/** Erasable and honest TypeScript only, and nothing left for later. */
export const syntax: Rule = (sources) =>
  sources.flatMap((source) => [
    ...BANNED_SYNTAX.flatMap(([what, pattern]) => matches(source, "syntax", pattern, () => `uses ${what}`)),
    ...[...source.text.matchAll(UNFINISHED)].map((match) =>
      at(source, "syntax", lineAt(source.text, match.index), `says ${match[0]}`),
    ),
  ]);

export const rules: Readonly<Record<string, Rule>> = {
  imports,
  cycles,
  barrels,
  names,
  purity,
  caps,
  syntax,
};

export function describeViolation({ rule, path: file, line, text }: Violation): string {
  return `${file}:${line}  ${text}  [${rule}]`;
}

function matches(
  source: Source,
  rule: string,
  pattern: RegExp,
  say: (match: RegExpExecArray) => string,
): Violation[] {
  return [...source.code.matchAll(pattern)].map((match) => {
    const start = match.index + (/^[\s;{}]*/.exec(match[0])?.[0].length ?? 0);
    return at(source, rule, lineAt(source.code, start), say(match));
  });
}

function at(source: Source, rule: string, line: number, text: string): Violation {
  return { rule, path: path.posix.normalize(source.path), line, text };
}
