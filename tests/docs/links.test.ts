import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { markdownFiles, ROOT, readRoot, withoutBlocks } from "./markdown.ts";

const files = markdownFiles(".", "docs/guide", "docs/reference", "docs/decisions");
const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g;
const PATH = /`((?:src|tests|docs|examples|verifier|scripts|bin)\/[\w./-]+)`/g;

const linksIn = (text: string): readonly string[] =>
  [...text.matchAll(LINK)].map(([, target]) => target ?? "");

/** A heading's anchor, as the usual renderers make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

const anchorsOf = (file: string): readonly string[] =>
  [...withoutBlocks(readRoot(file)).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => anchorOf(heading ?? ""));

function fault(file: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [place = "", anchor] = target.split("#");
  const found = place === "" ? file : path.posix.join(path.posix.dirname(file), place);
  if (!existsSync(path.join(ROOT, found))) return `${file}: ${target} does not exist`;
  if (anchor === undefined || !found.endsWith(".md")) return undefined;
  return anchorsOf(found).includes(anchor) ? undefined : `${file}: ${target} has no such heading`;
}

test("every relative link leads to a file and a heading that exist", () => {
  const faults = files.flatMap((file) =>
    linksIn(withoutBlocks(readRoot(file))).flatMap((target) => fault(file, target) ?? []),
  );
  assert.deepEqual(faults, []);
});

test("every file of the repository that a text names exists", () => {
  const missing = files.flatMap((file) =>
    [...readRoot(file).matchAll(PATH)]
      .map(([, place]) => place ?? "")
      .filter((place) => !place.includes("NNNN") && !existsSync(path.join(ROOT, place)))
      .map((place) => `${file}: ${place}`),
  );
  assert.deepEqual(missing, []);
});

test("decision records are numbered without gaps, and each says context, choice and consequence", () => {
  const records = markdownFiles("docs/decisions");
  for (const [index, file] of records.entries()) {
    const number = String(index + 1).padStart(4, "0");
    assert.ok(path.posix.basename(file).startsWith(`${number}-`), file);
    const text = readRoot(file);
    assert.ok(text.startsWith(`# ${number}. `), file);
    for (const part of ["## Context", "## Choice", "## Consequence"]) assert.ok(text.includes(part), file);
  }
});
