// The walls between the rooms and the habits inside them, as pure functions over source texts.
import path from "node:path";
import { lineAt } from "./lexer.ts";
import type { Import, Source } from "./source.ts";

export type Violation = {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
};
export type Rule = (sources: readonly Source[]) => Violation[];

/** A room's name, one folder of it, "ports" for the port files, "core types" and the like for `import type` only, "core words" for its names. */
type Room = { readonly room: string; readonly may: readonly string[]; readonly packages?: readonly string[] };

/**
 * Capabilities that have a folder of their own, lowest first: one may import what comes before it. A consequence that goes
 * upward goes through a port.
 */
export const CAPABILITIES = ["grants", "approvals"] as const;
/** What is pure of a capability. Rules are one file, or a folder where they are many. */
const PURE_FILES = ["rules.ts", "rules", "state.ts", "stream.ts"];
const RULES = CAPABILITIES.flatMap((name) => PURE_FILES.map((file) => `${name}/${file}`));

const ROOMS: readonly Room[] = [
  {
    room: "core",
    may: [...RULES, "kernel"],
    packages: ["node:crypto", "zod", "@marcbachmann/cel-js", "re2js"],
  },
  { room: "kernel", may: ["core"], packages: ["zod"] },
  { room: "engine", may: ["core", "kernel", ...CAPABILITIES, "ports"] },
  { room: "stores", may: ["core"] },
  { room: "sandbox", may: ["core"] },
  { room: "payments", may: ["core"] },
  { room: "models", may: ["core", "kernel"] },
  { room: "views", may: ["core", ...RULES] },
  {
    room: "server",
    may: ["engine", "kernel", "views", ...CAPABILITIES, "core types", "core words", "ports"],
  },
  { room: "client", may: ["core types", "server types"], packages: ["zod"] },
  {
    room: "cli",
    may: [
      ...["client", "server", "engine", "core", "kernel", "index.ts", "office.ts", "serve.ts", "work.ts"],
      ...CAPABILITIES.map((name) => `${name}/contract.ts`),
      ...RULES,
    ],
  },
  { room: "example", may: ["engine", ...CAPABILITIES, "core words", "server types", "index.ts"] },
  { room: "adapters", may: ["engine", "client", "core types"] },
  { room: "testing", may: ["core", "engine", "kernel", "ports", "stores/memory", "views", ...CAPABILITIES] },
];

/** What a file of a capability may import beside its own folder, by its name. */
const IN_CAPABILITY: { readonly [file: string]: readonly string[] } = {
  "state.ts": ["core", "kernel"],
  "stream.ts": ["core", "kernel"],
  "rules.ts": ["core", "kernel"],
  "contract.ts": ["core", "kernel"],
  "card-schema.ts": ["core", "kernel"],
  "views.ts": ["core", "kernel"],
};
/** Files of a capability that have schemas. */
const SCHEMAS = ["contract.ts", "views.ts", "card-schema.ts"];
/** `verbs.ts`, and the other files by which a capability reads and acts. */
const ACTS = ["core", "kernel", "engine", "ports"];

const PORTS = new Set([
  "src/stores/store.ts",
  "src/supervise/models/model.ts",
  "src/sandbox/sandbox.ts",
  "src/payments/rail.ts",
]);
/** Names, errors and formats of core: what whoever answers has to say, and no rule by which anything is decided. */
const WORDS = new Set(
  [
    "digest",
    "error-text",
    "errors",
    "intent/state",
    "json",
    "message/message-state",
    "principal",
    "roster",
    "scopes",
    "stream",
    "strict-json",
    "tenant/state",
    "verdict",
    "visible",
    "workflow/state",
  ].map((name) => `src/core/${name}.ts`),
);
const COMPOSITION = "src/index.ts";
/** A second place where parts are put together: the store that has to be asked for. */
const COMPOSITIONS = new Set([
  COMPOSITION,
  "src/open.ts",
  "src/api/open-tenant-host.ts",
  "src/contracts.ts",
  "src/postgres.ts",
  "src/serve.ts",
  "src/work.ts",
]);
const DOORS = new Set([...COMPOSITIONS, "src/client/client.ts", "src/testing/testing.ts"]);

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
/** A contract has types of asynchronous methods. */
const isPure = ({ path: file }: { readonly path: string }): boolean =>
  /^src\/(?:core|kernel)\/(?!contract\.ts$)|^src\/(?!client\/)[a-z-]+\/(?:rules\.ts$|rules\/|state\.ts$|stream\.ts$)/.test(
    file,
  );

/** Each room imports only what the table lets it. */
export const imports: Rule = (sources) =>
  sources.filter(isShipped).flatMap((source) => {
    const isKnown = tableRow(source.path) !== undefined || capabilityIn(source.path) !== undefined;
    const homeless = !COMPOSITIONS.has(source.path) && !isKnown;
    if (homeless) return [at(source, "imports", 1, "lies in no room of the table")];
    return source.imports
      .filter((entry) => !isAllowed(source.path, entry))
      .map((entry) => at(source, "imports", entry.line, `may not import ${entry.specifier}`));
  });

type Capability = { readonly at: number; readonly file: string };

function capabilityIn(file: string): Capability | undefined {
  const [, folder = "", name = ""] = /^src\/([a-z-]+)\/(.+)$/.exec(file) ?? [];
  const place = (CAPABILITIES as readonly string[]).indexOf(folder);
  return place < 0 ? undefined : { at: place, file: name.startsWith("rules/") ? "rules.ts" : name };
}

/** Its own folder, what its kind of file may have, and of the capabilities below it what they pass on to rules. */
function isAllowedIn({ at: place, file }: Capability, entry: Import): boolean {
  const other = capabilityIn(entry.target);
  if (!entry.specifier.startsWith(".")) return entry.target === "zod" && SCHEMAS.includes(file);
  if (other === undefined) return (IN_CAPABILITY[file] ?? ACTS).some((allowed) => covers(allowed, entry));
  const isFold = file === "stream.ts" || file === "state.ts";
  if (isFold && !(other.file === "stream.ts" || (other.at === place && other.file === "state.ts")))
    return false;
  return other.at === place || (other.at < place && /^(rules|state|stream)\.ts$/.test(other.file));
}

function isAllowed(from: string, entry: Import): boolean {
  const own = capabilityIn(from);
  if (own !== undefined) return isAllowedIn(own, entry);
  const row = tableRow(from);
  const { target } = entry;
  if (!entry.specifier.startsWith(".")) return row?.packages?.includes(target) ?? true;
  if (!target.startsWith("src/") || isTest({ path: target })) return false;
  if (COMPOSITIONS.has(from) || target.startsWith(`src/${row?.room}/`)) return true;
  return row?.may.some((allowed) => covers(allowed, entry)) ?? false;
}

function covers(allowed: string, { target, typeOnly }: Import): boolean {
  if (allowed === "ports") return PORTS.has(target);
  if (allowed === "core words") return WORDS.has(target);
  const [room = "", kind] = allowed.split(" ");
  if (kind === "types") return typeOnly && target.startsWith(`src/${room}/`);
  return target === `src/${allowed}` || target.startsWith(`src/${allowed}/`);
}

function tableRow(file: string): Room | undefined {
  return ROOMS.find(({ room }) => file.startsWith(`src/${room}/`));
}

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
    return target === "src/kernel/text.ts" || (typeOnly && isWord);
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
