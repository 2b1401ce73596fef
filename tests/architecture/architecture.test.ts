import assert from "node:assert/strict";
import { test } from "node:test";
import { readRoot, readTree } from "./files.ts";
import { describeViolation, deskImports, deskMarkup, type Rule, rules } from "./rules.ts";
import { read, type Source, type SourceText } from "./source.ts";

/** Every rule looks at the same files. */
const known = new WeakMap<SourceText, Source>();

function readOnce(file: SourceText): Source {
  const source = known.get(file) ?? read(file);
  known.set(file, source);
  return source;
}

function violations(rule: string, files: readonly SourceText[], table = rules): string[] {
  return (table[rule]?.(files.map(readOnce)) ?? []).map(describeViolation);
}

function file(path: string, ...lines: readonly string[]): SourceText {
  return { path, text: `${lines.join("\n")}\n` };
}

const tree = readTree("src").filter(({ path }) => path.endsWith(".ts"));

for (const rule of Object.keys(rules)) {
  test(`the source keeps the rule of ${rule}`, () => {
    assert.deepEqual(violations(rule, tree), []);
  });
}

const { devDependencies } = JSON.parse(readRoot("dashboard/package.json")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const { cycles, barrels, names, caps, syntax } = rules as Readonly<Record<string, Rule>>;
/** The habits of the house, and walls of its own. */
const deskRules = {
  ...{ cycles, barrels, names, caps, syntax },
  imports: deskImports(new Set(Object.keys(devDependencies))),
  markup: deskMarkup,
} as Readonly<Record<string, Rule>>;
const desk = readTree("dashboard/src").filter(({ path }) => /\.tsx?$/.test(path));

for (const rule of Object.keys(deskRules)) {
  test(`the desk keeps the rule of ${rule}`, () => {
    assert.ok(desk.length > 50);
    assert.deepEqual(violations(rule, desk, deskRules), []);
  });
}

const others = ["tests", "scripts", "bin", "examples"].flatMap(readTree);

test("tests, scripts and examples keep to the length of a file", () => {
  assert.deepEqual(
    violations(
      "caps",
      others.filter(({ path }) => /\.(ts|mjs)$/.test(path)),
    ).filter((line) => / has \d+ lines/.test(line)),
    [],
  );
});

const many = (count: number, line: string): string[] => Array.from({ length: count }, () => line);
const pure = (...lines: readonly string[]): SourceText[] => [file("src/journal/sample.ts", ...lines)];

const planted: Readonly<Record<string, Readonly<Record<string, readonly SourceText[]>>>> = {
  imports: {
    "a pure file imports the runtime": pure('import { run } from "../runtime/run.ts";'),
    "a pure file imports a type of the runtime": pure('import type { Run } from "../runtime/run.ts";'),
    "a pure file imports a store dynamically": pure(
      'export const load = () => import("../stores/store.ts");',
    ),
    "a pure file passes on a store": pure('export { open } from "../stores/store.ts";'),
    "a pure file imports for the effect": pure('import "../runtime/run.ts";'),
    "a pure file imports the file system": pure('import { readFileSync } from "node:fs";'),
    "a pure file imports an unlisted package": pure('import pg from "pg";'),
    "a pure file imports a test": pure('import { given } from "./sample.test.ts";'),
    "the runtime imports an implementation of a port": [
      file("src/runtime/run.ts", "import {", "  open,", '} from "../stores/sqlite/open.ts";'),
    ],
    "a store imports the runtime": [file("src/stores/plan.ts", 'import { run } from "../runtime/run.ts";')],
    "a pure file imports a file that acts": [
      file("src/effects/rules/start.ts", 'import { perform } from "../perform.ts";'),
    ],
    "a stream imports a capability above it": [
      file("src/budgets/stream.ts", 'import type { LiveAction } from "../effects/state.ts";'),
    ],
    "a rule imports a rule of a capability above it": [
      file("src/grants/rules.ts", 'import { vote } from "../approvals/rules/vote.ts";'),
    ],
    "a capability imports the server": [
      file("src/effects/perform.ts", 'import { openApp } from "../api/app.ts";'),
    ],
    "a capability imports the terminal": [
      file("src/effects/perform.ts", 'import { print } from "../cli/main.ts";'),
    ],
    "the client imports a value of the server": [
      file("src/client/calls.ts", 'import { allRoutes } from "../api/routes.ts";'),
    ],
    "the client imports Node": [file("src/client/calls.ts", 'import { request } from "node:http";')],
    "the terminal imports a store": [
      file("src/cli/main.ts", 'import { open } from "../stores/memory/open.ts";'),
    ],
    "the bench imports another store": [
      file("src/testing/sim.ts", 'import { a } from "../stores/sqlite/a.ts";'),
    ],
    "the runtime imports the composition": [file("src/runtime/run.ts", 'import { a } from "../index.ts";')],
    "a folder that is not in the table": [file("src/attic/box.ts", "export const box = 1;")],
    "a file beside the folders": [file("src/loose.ts", "export const loose = 1;")],
    "a file that leaves the source": [file("src/index.ts", 'import { a } from "../tests/a.ts";')],
  },
  cycles: {
    "two files that import each other": [
      file("src/journal/a.ts", 'import { b } from "./b.ts";'),
      file("src/journal/b.ts", 'import { a } from "./a.ts";'),
    ],
    "a cycle of types over three files": [
      file("src/journal/a.ts", 'import type { B } from "./b.ts";'),
      file("src/journal/b.ts", 'import type { C } from "./c.ts";'),
      file("src/journal/c.ts", 'export type { A } from "./a.ts";'),
    ],
    "a file that imports itself": [file("src/journal/a.ts", 'import { a } from "./a.ts";')],
  },
  barrels: {
    "a star": pure('export * from "./event.ts";', "export const own = 1;"),
    "a named star": pure('export * as events from "./event.ts";', "export const own = 1;"),
    "only re-exports": pure(
      "// The door.",
      'export { a } from "./a.ts";',
      'export type { B } from "./b.ts";',
    ),
  },
  names: {
    "a folder of utils": [file("src/journal/utils/clock.ts", "export const a = 1;")],
    "a file of helpers": [file("src/journal/helpers.ts", "export const a = 1;")],
    "a manager": [file("src/runtime/session-manager.ts", "export const a = 1;")],
    "a class that ends in Service": pure("export class PolicyService {}"),
    "a type that ends in Impl": pure("type StoreImpl = {};"),
  },
  purity: {
    "Date.now": pure("export const now = () => Date.now();"),
    "new Date without an argument": pure("export const now = new Date();"),
    "new Date without parentheses": pure("export const now = new Date;"),
    "Math.random": pure("export const dice = Math.random();"),
    "a random id": pure('import { randomUUID } from "node:crypto";'),
    "all of node:crypto": pure('import * as crypto from "node:crypto";'),
    "a generated key": pure('import { createHash, generateKeyPairSync } from "node:crypto";'),
    setTimeout: pure("setTimeout(() => 1, 10);"),
    "performance.now": pure("export const t = performance.now();"),
    "an async function": pure("export async function f() {}"),
    await: pure("const x = await y;"),
    "a promise": pure("export type Later = Promise<number>;"),
    "the environment": pure('export const home = process.env["HOME"];'),
    fetch: pure('fetch("https://example.com");'),
    "code inside a template": pure("export const id = `id-${Math.random()}`;"),
    console: pure('console.log("x");'),
  },
  caps: {
    "a long file": pure(...many(401, "export {};")),
    "a long test": [file("src/journal/a.test.ts", ...many(601, "export {};"))],
    "a long function": pure("export function f(): { a: number } {", ...many(60, "  a();"), "}"),
    "a long arrow": pure("export const f = <T,>(a: T): void => {", ...many(60, "  a();"), "};"),
    "a long arrow that answers with an object": pure("export const f = () => ({", ...many(60, "  a,"), "});"),
    "a long method": pure("class A {", "  m(): void {", ...many(60, "    a();"), "  }", "}"),
    "five parameters": pure(
      "export function f(a: A, b: B<C, D>, c: (x: X, y: Y) => Z, d = 1, e?: E): void {}",
    ),
    "five parameters of an arrow": pure("export const f = (a: A, b: B, c: C, d: D, e: E): number => a;"),
    "five parameters of a constructor": pure(
      "class A {",
      "  constructor(a: A, b: B, c: C, d: D, e: E) {}",
      "}",
    ),
  },
  syntax: {
    any: pure("export const a: any = 1;"),
    "as any": pure("export const a = b as any;"),
    "a list of any": pure("export type A = any[];"),
    "any as an argument of a type": pure("export type A = Map<string, any>;"),
    "an enum": pure("export enum Color { Red }"),
    "a constant enum": pure("const enum Color { Red }"),
    "a namespace": pure("export namespace A { export const b = 1; }"),
    "a decorator": pure("@sealed", "export class A {}"),
    "work left for later": pure(`// ${"TO"}${"DO"}: finish`),
  },
};

for (const [rule, samples] of Object.entries(planted)) {
  for (const [name, files] of Object.entries(samples)) {
    test(`the rule of ${rule} sees ${name}`, () => {
      assert.notDeepEqual(violations(rule, files), []);
    });
  }
}

const page = (...lines: readonly string[]): SourceText[] => [file("dashboard/src/pages/a/a.tsx", ...lines)];

const plantedAtTheDesk: Readonly<Record<string, Readonly<Record<string, readonly SourceText[]>>>> = {
  imports: {
    "a rule": page('import { vote } from "../../../../src/approvals/rules/vote.ts";'),
    "a type of the server": page('import type { Who } from "../../../../src/api/authenticate.ts";'),
    "a value of the client past its door": page('import { a } from "../../../../src/client/send.ts";'),
    "a package that it does not declare": page('import { z } from "zod";'),
    Node: page('import { readFileSync } from "node:fs";'),
    "the package itself": page('import { holdpoint } from "holdpoint";'),
  },
  markup: {
    "markup of text": page("export const A = () => <p dangerouslySetInnerHTML={{ __html: text }} />;"),
    innerHTML: page("element.innerHTML = text;"),
    insertAdjacentHTML: page('element.insertAdjacentHTML("beforeend", text);'),
    "document.write": page("document.write(text);"),
    eval: page("eval(text);"),
    "new Function": page("new Function(text)();"),
    "a page in a frame": page("export const A = () => <iframe srcDoc={text} />;"),
  },
  caps: {
    "a long component": page("export function A() {", "  return (", ...many(60, "    <br />"), "  );", "}"),
    "a long component with text": page(
      "export const A = () => (",
      "  <p>It's {",
      ...many(60, "    a"),
      "  }</p>",
      ");",
    ),
  },
  names: { "a file of helpers": [file("dashboard/src/ui/helpers.tsx", "export const a = 1;")] },
  syntax: { any: page("export const a = b as any;") },
};

for (const [rule, samples] of Object.entries(plantedAtTheDesk)) {
  for (const [name, files] of Object.entries(samples)) {
    test(`at the desk the rule of ${rule} sees ${name}`, () => {
      assert.notDeepEqual(violations(rule, files, deskRules), []);
    });
  }
}

const cleanPage = page(
  'import { useQuery } from "@tanstack/react-query";',
  'import { type AnswerOf, isClientError } from "holdpoint/client";',
  'import type { Client } from "../../../../src/client/client.ts";',
  'import { visible } from "../../../../src/kernel/text.ts";',
  'import { Button } from "../../ui/button.tsx";',
  "export function A({ text }: { readonly text: string }) {",
  "  // innerHTML and eval( in a comment.",
  "  return (",
  "    <div>",
  "      <p>It doesn't say {text}</p>",
  "      <b>{visible(text)}</b> {",
  '        text === "innerHTML" ? <Button /> : null',
  "      }",
  "    </div>",
  "  );",
  "}",
  ...many(70, "export type B = Client | AnswerOf<never>;"),
);

for (const rule of Object.keys(deskRules)) {
  test(`at the desk the rule of ${rule} leaves a clean page alone`, () => {
    assert.deepEqual(violations(rule, cleanPage, deskRules), []);
  });
}

const clean: readonly SourceText[] = [
  file(
    "src/journal/decide.ts",
    'import { createHash, type KeyObject, verify } from "node:crypto";',
    'import { z } from "zod";',
    'import type { Event } from "./event.ts";',
    '// Date.now() and any await in a comment, `import x from "../runtime/run.ts"` too.',
    'export const words = ["await", "Date.now()", "import { a } from \'../runtime/run.ts\'"];',
    "export const pattern = /[/*\"'`{(]Math.random/;",
    "export const half = (a: number, b: number): number => a / b / 2;",
    "export const at = (ms: number): Date => new Date(ms);",
    "export const text = (a: string): string => `any ${a.length > 1 ? `{${a}` : 'Promise'} async`;",
    "export function decide(event: Event, key: KeyObject): { readonly ok: boolean } {",
    "  if (event.process.name === 'fetch(') return { ok: verify(null, event.bytes, key, event.sig) };",
    "  if (event.body instanceof Promise) return { ok: false };",
    "  const many = new Map<string, readonly [number, number]>();",
    "  return { ok: many.size > 0 && createHash('sha256') !== undefined && z !== undefined };",
    "}",
  ),
  file(
    "src/kernel/stream.ts",
    "export type Event = { readonly process: { readonly name: string }; any: number };",
  ),
  file(
    "src/journal/decide.test.ts",
    'import { run } from "../runtime/run.ts";',
    "export const started = Date.now();",
    "export const later = async () => run();",
    ...many(100, "later();"),
  ),
  file(
    "src/runtime/run.ts",
    'import { decide } from "../journal/decide.ts";',
    'import type { Store } from "../stores/store.ts";',
    "export async function run(): Promise<void> {}",
    'export { decide as again } from "../journal/decide.ts";',
  ),
  file(
    "src/stores/store.ts",
    'import type { Event } from "../journal/event.ts";',
    "export type Store = { a: Event };",
  ),
  file("src/stores/memory/open.ts", 'import type { Store } from "../store.ts";', "export const open = 1;"),
  file("src/api/app.ts", 'import type { Event } from "../journal/event.ts";', "export type App = Event;"),
  file("src/cli/main.ts", 'import { holdpoint } from "../index.ts";', "export const main = holdpoint;"),
  file("src/testing/testing.ts", 'export { open } from "../stores/memory/open.ts";'),
  file(
    "src/index.ts",
    'export { open } from "./stores/memory/open.ts";',
    'export type { Event } from "./core/event.ts";',
  ),
];

for (const rule of Object.keys(rules)) {
  test(`the rule of ${rule} leaves clean code alone`, () => {
    assert.deepEqual(violations(rule, clean), []);
  });
}
