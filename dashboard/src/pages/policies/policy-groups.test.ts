import assert from "node:assert/strict";
import { test } from "node:test";
import { firstVersion, otherTexts, policyGroups } from "./policy-groups.ts";
import type { Version } from "./policy-queries.ts";

const version = (name: string, digest: string, day: number, standing: Version["standing"]): Version => ({
  name,
  digest,
  standing,
  at: `2026-01-0${day}T00:00:00.000Z`,
  until: null,
  programs: [],
  by: "service:app",
  source: "file",
});

const ALL = [
  version("mail", "m1", 1, "ended"),
  version("refunds", "r1", 2, "ended"),
  version("refunds", "r2", 3, "ended"),
  version("refunds", "r1", 4, "used"),
];

test("policies in force stand first, each with its newest version on top", () => {
  assert.deepEqual(
    policyGroups(ALL).map(({ name, isUsed, versions }) => [
      name,
      isUsed,
      versions.map(({ digest }) => digest),
    ]),
    [
      ["refunds", true, ["r1", "r2", "r1"]],
      ["mail", false, ["m1"]],
    ],
  );
});

test("a version in force is opened first, and the newest one where none is", () => {
  assert.equal(firstVersion(policyGroups(ALL))?.at, ALL[3]?.at);
  assert.equal(firstVersion(policyGroups(ALL.slice(0, 1)))?.digest, "m1");
  assert.equal(firstVersion([]), undefined);
});

test("a version is compared with the other texts of its policy, each once", () => {
  const groups = policyGroups(ALL);
  const [newest, second] = groups[0]?.versions ?? [];
  assert.ok(newest && second);
  const digests = (version: Version) => otherTexts(groups, version).map(({ digest }) => digest);
  assert.deepEqual(digests(newest), ["r2"]);
  assert.deepEqual(digests(second), ["r1"]);
});
