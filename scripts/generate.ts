// Writes what is derived from the registry and the folders of capabilities: tables of streams, contracts and verbs, of commands
// that are data and of pages that list, the client's table of calls, and rows of the reference pages.
// `npm run generate` writes them; `npm run generate -- --check` only says whether they are up to date.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import type { Route } from "../src/api/route.ts";
import type { RouteParts } from "../src/api/routes.ts";
import type { CALLS } from "../src/client/calls.ts";
import { clientCall, httpMethod, pathNames, type VerbContract } from "../src/kernel/contract.ts";
import { SCOPES } from "../src/kernel/registry.ts";
import { ROLE_SCOPES, scopesOf } from "../src/people/rules/scopes.ts";
import { ROLES } from "../src/people/stream.ts";
import { HOME_TENANT } from "../src/people/tenants/stream.ts";
import {
  channelTable,
  contracts,
  contractTable,
  pageNames,
  pageTable,
  references,
  resourceTable,
  streamTable,
  verbTable,
} from "./generate-tables.ts";

/** As the formatter writes it: a table that is written again is the same to the byte. */
function formatted(text: string, name: string): string {
  const biome = ["node_modules/@biomejs/biome/bin/biome", "check", "--write", `--stdin-file-path=${name}`];
  return execFileSync(process.execPath, biome, { input: text, encoding: "utf8" });
}

const isCheck = process.argv.includes("--check");
const stale: string[] = [];

function keep(path: string, text: string): void {
  const before = fs.existsSync(path) ? fs.readFileSync(path, "utf8") : "";
  if (before === text) return;
  stale.push(path);
  if (!isCheck) fs.writeFileSync(path, text);
}

const keepCode = (path: string, text: string): void => keep(path, formatted(text, path));

keepCode("src/streams.ts", streamTable());
keepCode("src/contracts.ts", contractTable());
keepCode("src/verbs.ts", await verbTable());
keepCode("src/notify/rules/channel-words.ts", await channelTable());
keepCode("src/cli/resource-table.ts", await resourceTable());
keepCode("dashboard/src/shell/listed-pages.ts", pageTable());
keepCode("src/api/pages/listed-pages.ts", pageNames());
// Its modules read the tables above.
const { COMMANDS } = await import("../src/cli/commands.ts");
const { RESOURCES } = await import("../src/cli/resource-table.ts");
const { routeName, scopesOfRoute } = await import("../src/api/route.ts");
const { allRoutes } = await import("../src/api/routes.ts");

const verbs = contracts.flatMap(({ name, door, verbs: all }) =>
  Object.entries(all).map(([verb, facts]) => ({ name, verb, facts, door })),
);

function callText({ http, input, whenLost, repeatable }: VerbContract): string {
  const taken = httpMethod(http) === "GET" ? "query" : "body";
  const kind = repeatable === true ? "repeatable" : "once";
  const unkept = whenLost === "none" ? `, unkept: "${kind}"` : "";
  return `{ route: "${http}", takes: "${input === undefined ? "nothing" : taken}"${unkept} }`;
}

function clientTable(): string {
  const byResource = Map.groupBy(contracts, ({ name, resource = name }) => resource);
  const resources = [...byResource].map(([resource, all]) => {
    const facts = all.flatMap(({ verbs: own }) => Object.entries(own));
    const calls = facts.map(([verb, one]) => [clientCall(verb, one), callText(one)]);
    const lines = Object.entries(Object.fromEntries(calls)).map(([call, text]) => `    ${call}: ${text},\n`);
    return `  ${resource}: {\n${lines.join("")}  },\n`;
  });
  return `/** Made from the contracts by \`npm run generate\`: the client has their routes without their schemas. */
export const CONTRACT_CALLS = {
${resources.join("")}} as const;
`;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function signature({ name, verb, facts, door }: (typeof verbs)[number]): string {
  const { http, input, takes = "input" } = facts;
  const isOptional = input?.safeParse({}).success === true;
  const words = [...pathNames(http), ...(input === undefined ? [] : [`${takes}${isOptional ? "?" : ""}`])];
  const group = door === "instance" ? "" : `${name}.`;
  return `${door === "admin" ? "" : "hp."}${group}${verb}(${words.join(", ")})`;
}

const methodRows = (page: "library" | "admin") =>
  verbs
    .filter(({ door }) => (door === "admin" ? "admin" : "library") === page)
    .map((one): readonly [string, string] => {
      const cell = signature(one);
      return [cell, `| \`${cell}\` | ${lower(one.facts.summary)} |`];
    });

/** By page: the first cell of a row, and the whole row. */
const ROWS: { readonly [page: string]: readonly (readonly [string, string])[] } = {
  "docs/reference/library.md": methodRows("library"),
  "docs/reference/admin.md": methodRows("admin"),
  "docs/reference/events.md": references.map(
    ({ type, meaning }) => [type, `| \`${type}\` | ${meaning} |`] as const,
  ),
};

/** A kind that has no section yet gets one at the end. */
function withSections(text: string): string {
  const missing = [...new Set(references.map(({ kind }) => kind))].filter(
    (kind) => !text.includes(`\n## \`${kind}/`),
  );
  const sections = missing.map((kind) => {
    const rows = references.filter((one) => one.kind === kind);
    const lines = rows.map(({ type, meaning }) => `| \`${type}\` | ${meaning} |\n`);
    return `\n## \`${kind}/…\`\n\n| type | meaning |\n|---|---|\n${lines.join("")}`;
  });
  return [text, ...sections].join("");
}

/** A row that is not there yet comes after the row before it. */
function withRows(page: string, text: string, rows: readonly (readonly [string, string])[]): string {
  const lines = text.split("\n");
  let last = -1;
  for (const [cell, row] of rows) {
    const at = lines.findIndex((line) => line.startsWith(`| \`${cell}\` |`));
    if (at >= 0) lines[at] = row;
    else if (last >= 0) lines.splice(last + 1, 0, row);
    else throw new Error(`${page} has no row for ${cell}, nor one that it could follow: add it by hand`);
    last = at >= 0 ? at : last + 1;
  }
  return lines.join("\n");
}

function scopeText(route: Route): string {
  const { scope } = route;
  if (scope === "public") return "none needed";
  if (scope === "any") return "any";
  return scopesOfRoute(route)
    .map((one) => `\`${one}\``)
    .join(" or ");
}

const nothing = {} as unknown;
const NO_PARTS = {
  condition: { version: "0" },
  ...{ audience: nothing, hands: nothing, metrics: nothing },
} as unknown as RouteParts;

const OF_AGENTS = scopesOf({ tenant: HOME_TENANT, principal: "agent:any", roles: ROLES }, null);

/** Which role brings a scope, and whether agents and services can have it. */
function scopeRow(scope: (typeof SCOPES)[number]): string {
  const cells = ROLES.map((role) => (ROLE_SCOPES[role].includes(scope) ? "yes" : ""));
  return `| \`${scope}\` | ${cells.join(" | ")} | ${OF_AGENTS.includes(scope) ? "yes" : "never"} |`;
}

/** Tables that are written whole: by page, the first line of the head and the rows. */
const tables = (calls: typeof CALLS) =>
  ({
    "docs/reference/http.md": [
      "| route | scope | what it does |",
      allRoutes(NO_PARTS).map(
        (route: Route) => `| \`${routeName(route)}\` | ${scopeText(route)} | ${route.summary} |`,
      ),
    ],
    "docs/reference/client.md": [
      "| call | route |",
      Object.entries(calls).flatMap(([resource, all]) =>
        Object.entries(all).map(([call, { route }]) => `| \`${resource}.${call}\` | \`${route}\` |`),
      ),
    ],
    "docs/guide/people-and-keys.md": [
      `| scope | ${ROLES.join(" | ")} | agents and services |`,
      SCOPES.map(scopeRow),
    ],
  }) as const;

/**
 * A command's words and flags. What it does and its exit codes are written by hand, in the cells after them; a command that
 * has no row yet gets one after the command before it, with its summary.
 */
function withCommands(text: string): string {
  const lines = text.split("\n");
  let last = lines.findIndex((line) => line.startsWith("| command |")) + 1;
  for (const { name, words, flags, summary } of COMMANDS) {
    const found = lines.findIndex((line) =>
      /^\| `([^`]*)`/.exec(line)?.[1]?.concat(" ").startsWith(`${name} `),
    );
    const at = found < 0 ? last + 1 : found;
    const exits = words.some((word) => /\bid\b/.test(word)) ? " 3 unknown id " : " ";
    const made = [` ${lower(summary)} `, exits, ""];
    const cells = found < 0 ? made : (lines[found] ?? "").split(/(?<!\\)\|/).slice(3);
    if (found < 0) lines.splice(at, 0, "");
    last = at;
    const usage = [name, ...words].join(" ").replaceAll("|", "\\|");
    const typed = Object.entries(flags).map(
      ([flag, { value }]) => `\`--${flag}${value === undefined ? "" : ` ${value}`}\``,
    );
    lines[at] = `| \`${usage}\` |${typed.length === 0 ? "" : ` ${typed.join(" ")}`} |${cells.join("|")}`;
  }
  return lines.join("\n");
}

function withTable(text: string, head: string, rows: readonly string[]): string {
  const lines = text.split("\n");
  const first = lines.indexOf(head) + 2;
  const end = lines.findIndex((line, at) => at >= first && !line.startsWith("| "));
  return [...lines.slice(0, first), ...rows, ...lines.slice(end)].join("\n");
}

const unplaced = RESOURCES.filter(({ name }) => !COMMANDS.some((command) => command.name === name));
for (const { name } of unplaced)
  throw new Error(`the command ${name} is in no group: name one as its section, such as "Operate"`);

keepCode("src/client/contract-calls.ts", clientTable());
const EVENT_PAGE = "docs/reference/events.md";
keep(EVENT_PAGE, withSections(fs.readFileSync(EVENT_PAGE, "utf8")));
for (const [page, rows] of Object.entries(ROWS))
  keep(page, withRows(page, fs.readFileSync(page, "utf8"), rows));
// Its contracts' part was written above.
const made = await import("../src/client/calls.ts");
for (const [page, [head, rows]] of Object.entries(tables(made.CALLS)))
  keep(page, withTable(fs.readFileSync(page, "utf8"), head, rows));
const COMMAND_PAGE = "docs/reference/cli.md";
keep(COMMAND_PAGE, withCommands(fs.readFileSync(COMMAND_PAGE, "utf8")));
for (const path of stale) console.log(isCheck ? `${path} is stale: run npm run generate` : `wrote ${path}`);
if (isCheck && stale.length > 0) process.exitCode = 1;
