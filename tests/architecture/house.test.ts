// The counters of `npm run check`: each sees what it counts, and a limit never goes up.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readTree } from "./files.ts";

type Counts = {
  readonly [counter: string]: readonly string[] | number | { readonly [folder: string]: number };
};
type Figures = { readonly [counter: string]: number | { readonly [folder: string]: number } };
type Row = { readonly name: string; readonly count: number; readonly limit: number };

type House = {
  countHouse(files: ReadonlyMap<string, string>): Counts;
  figures(counts: Counts): Figures;
  compareLimits(counted: Figures, limits: Figures): readonly Row[];
  lowered(counted: Figures, limits: Figures): Figures;
  runVerbs(files: ReadonlyMap<string, string>): readonly string[];
};
type Capabilities = {
  readonly CAPABILITIES: readonly string[];
  readonly NO_VERBS: { readonly [name: string]: string };
  readonly STAY_BY_HAND: { readonly [file: string]: string };
  inspectCapability(name: string, files: readonly string[]): { state: string; byHand: string[] };
};

const load = (script: string): Promise<unknown> =>
  import(pathToFileURL(resolve(import.meta.dirname, "../../scripts", script)).href);
const house = (await load("house.mjs")) as House;
const { CAPABILITIES, inspectCapability, NO_VERBS, STAY_BY_HAND } = (await load(
  "capabilities.mjs",
)) as Capabilities;

const limits = JSON.parse(readFileSync(resolve(import.meta.dirname, "limits.json"), "utf8")) as Figures;

const count = (counter: string, files: Readonly<Record<string, string>>) =>
  house.countHouse(new Map(Object.entries(files)))[counter];

test("an export that no other file imports is dead; one that only tests import is counted apart", () => {
  const files = {
    "src/core/a.ts": [
      "export const used = 1;",
      "export const tested = 2;",
      "export type Dead = 3;",
      "export const late = 4;",
      "const own = 5;",
      "export { own };",
    ].join("\n"),
    "src/core/b.ts":
      'import {\n  used,\n} from "./a.ts";\nconst { late } = await import("./a.ts");\nconsole.log(used, late);',
    "src/core/a.test.ts":
      'import { tested, type Dead as Other } from "./c.ts";\nimport { tested } from "./a.ts";',
  };
  assert.deepEqual(count("dead exports", files), ["src/core/a.ts Dead", "src/core/a.ts own"]);
  assert.deepEqual(count("exports used by tests only", files), ["src/core/a.ts tested"]);
});

test("what the package exports is not dead", () => {
  assert.deepEqual(count("dead exports", { "src/index.ts": "export const holdpoint = 1;" }), []);
});

test("a name that two files export is a homonym; one that is passed on is not", () => {
  const files = {
    "src/core/a.ts": "export type Row = 1;",
    "src/engine/b.ts": "export type Row = 2;",
    "src/engine/c.ts": 'export type { Row } from "./b.ts";',
  };
  assert.deepEqual(count("exported homonyms", files), ["Row src/core/a.ts src/engine/b.ts"]);
});

test("a short file with one importer is counted; a long one, and one that two files import, are not", () => {
  const long = "export const l = 1;\n".repeat(60);
  const files = {
    "src/core/short.ts": "export const s = 1;\n",
    "src/core/long.ts": long,
    "src/core/shared.ts": "export const h = 1;\n",
    "src/core/a.ts": `import { s } from "./short.ts";\nimport { l } from "./long.ts";\nimport { h } from "./shared.ts";\n${long}`,
    "src/core/b.ts": `import { h } from "./shared.ts";\nimport { a } from "./a.ts";\n${long}`,
  };
  assert.deepEqual(count("files with one importer and under 60 lines", files), [
    "src/core/short.ts 1 lines, of src/core/a.ts",
  ]);
});

test("a short channel is a file of its own: the list of channels is its only importer", () => {
  const pigeon = "src/notify/pigeon.ts";
  const list = { "src/notify/channels.ts": 'import { pigeon } from "./pigeon.ts";\n' };
  const short = { [pigeon]: "export const pigeon = 1;\n" };
  const counter = "files with one importer and under 60 lines";
  assert.deepEqual(count(counter, { ...list, ...short }), []);
  const other = { "src/notify/send.ts": list["src/notify/channels.ts"] };
  assert.deepEqual(count(counter, { ...other, ...short }), [`${pigeon} 1 lines, of src/notify/send.ts`]);
});

test("vague types, functions that end in Of and vague words are counted where they stand", () => {
  const files = {
    "src/core/a.ts": [
      "// Whoever asked is told once.",
      "type Place = 1;",
      "export const keyOf = (a: Place) => a;",
      "function rowOf() {}",
      "export const typeOf = 3;",
      'const shown = "somebody has to approve this";',
    ].join("\n"),
    "README.md": "Nobody knows what became of it, and it is over.",
  };
  const vague = "types named Place, Asked, Said, Told, Found, Known, Given, Seen";
  assert.deepEqual(count(vague, files), ["src/core/a.ts Place"]);
  assert.deepEqual(count("functions that end in Of", files), ["src/core/a.ts keyOf", "src/core/a.ts rowOf"]);
  assert.equal(count("vague words per 1,000 in comments", files), 200);
  assert.equal(count("vague words per 1,000 in texts for users", files), 200);
  assert.equal(count("vague words per 1,000 in docs", files), 300);
});

test("a folder of more than 25 files is counted, without its tests", () => {
  const names = Array.from({ length: 26 }, (_, at) => [`src/core/f${at}.ts`, ""]);
  const files = { ...Object.fromEntries(names), "src/core/f1.test.ts": "", "src/engine/a.ts": "" };
  assert.deepEqual(count("files per folder", files), { "src/core": 26 });
});

test("a count above its limit is over it, also in a folder that has no limit of its own", () => {
  const counted = { "dead exports": 3, "files per folder": { "src/core": 30, "src/new": 26 } };
  const limits = { "dead exports": 2, "files per folder": { "src/core": 31 } };
  const rows = house.compareLimits(counted, limits);
  assert.deepEqual(
    rows.filter((row) => row.count > row.limit).map(({ name }) => name),
    ["dead exports", "files in src/new"],
  );
});

test("limits are lowered to the counts, never raised, and no folder is added", () => {
  const counted = { "dead exports": 3, homonyms: 9, "files per folder": { "src/core": 30, "src/new": 26 } };
  const limits = { "dead exports": 5, homonyms: 7, "files per folder": { "src/core": 28, "src/old": 40 } };
  assert.deepEqual(house.lowered(counted, limits), {
    "dead exports": 3,
    homonyms: 7,
    "files per folder": { "src/core": 28 },
  });
});

test("verbs of the form run are listed, and no others", () => {
  const verbs =
    "capability(grants, {\n  list: readVerb(read),\n  give: runVerb(async () => 1),\n  end: decideVerb(end),\n});";
  const files = { "src/grants/verbs.ts": verbs, "src/runtime/verb.ts": "export const runVerb = 1;" };
  assert.deepEqual(house.runVerbs(new Map(Object.entries(files))), ["grants.give"]);
});

const NEW = [
  "src/grants/stream.ts",
  "src/grants/contract.ts",
  "src/grants/verbs.ts",
  "src/grants/rules/give.ts",
];

test("a capability is left, converted, or has both styles at once", () => {
  const byHand = ["src/grants/methods.ts", "src/grants/remote-wire.ts"];
  const others = ["src/grants/read.ts", "src/effects/methods.ts"];
  const left = inspectCapability("grants", [...byHand, ...others]);
  assert.deepEqual([left.state, left.byHand], ["left", ["methods.ts", "remote-wire.ts"]]);
  assert.equal(inspectCapability("grants", [...NEW, ...others]).state, "converted");
  assert.equal(inspectCapability("grants", [...NEW, ...byHand]).state, "both");
  assert.equal(inspectCapability("grants", ["src/grants/stream.ts"]).state, "left");
});

test("routes, checks, input and forms by hand are seen, unless they are listed with a reason", () => {
  const seen = ["routes.ts", "remote-checks.ts", "creation-input.ts", "forms.ts", "uses/wait-routes.ts"];
  for (const file of seen)
    assert.deepEqual(inspectCapability("grants", [...NEW, `src/grants/${file}`]).byHand, [file]);
  assert.deepEqual(inspectCapability("grants", [...NEW, "src/grants/rules/checks-of.ts"]).byHand, []);
  const listed = Object.keys(STAY_BY_HAND);
  const files = readTree("src").map(({ path }) => path);
  assert.deepEqual(
    listed.filter((file) => !files.includes(file)),
    [],
  );
  assert.deepEqual(
    CAPABILITIES.flatMap((name) => inspectCapability(name, files).byHand),
    [],
  );
  const others = [...files, "src/agents/other-routes.ts"];
  assert.equal(inspectCapability("agents", others).state, "both");
});

test("capabilities that are not converted are counted, so that none goes back", () => {
  const counter = "capabilities that are not converted";
  const names = CAPABILITIES;
  assert.deepEqual(count(counter, {}), names);
  const converted = Object.fromEntries(NEW.map((file) => [file, ""]));
  assert.deepEqual(
    count(counter, converted),
    names.filter((name) => name !== "grants"),
  );
  assert.equal(typeof limits[counter], "number");
});

test("every capability has its folder", () => {
  const files = readTree("src").map(({ path }) => path);
  const all = [...CAPABILITIES, ...Object.keys(NO_VERBS)];
  const without = all.filter((name) => !files.some((file) => file.startsWith(`src/${name}/`)));
  assert.deepEqual(without, []);
});
