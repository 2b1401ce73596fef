import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { PLANTED, RARE } from "./planted.ts";
import { inside, plant } from "./planted-bug.ts";
import { hunt, programSources } from "./pool.ts";
import { runSeed } from "./run-seed.ts";

const MOST_FOR_PLANTED = 300;

const regressions: readonly { readonly seed: string; readonly why: string }[] = JSON.parse(
  readFileSync(new URL("./regressions.json", import.meta.url), "utf8"),
);

/** The seed at which each planted bug was last found; `npm run sim -- --planted` writes it anew when hunts have become long. */
const trails: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("./trails.json", import.meta.url), "utf8"),
);

describe("a simulated company of processes, people and a faulty world", () => {
  for (const seed of [3n, 43n, 77n, 0xdead_beef_cafe_f00dn]) {
    test(`is the same twice for seed ${seed}`, async () => {
      const [once, again] = [await runSeed(seed), await runSeed(seed)];
      assert.equal(once.digest, again.digest);
      assert.equal(once.steps, again.steps);
    });
  }

  for (const { seed, why } of regressions) {
    test(`seed ${seed} holds: ${why}`, async () => {
      const { violations } = await runSeed(BigInt(seed));
      assert.deepEqual(violations, []);
    });
  }
});

describe("a planted bug", () => {
  test("is planted in a function that exists, and there are 82", () => {
    for (const planted of PLANTED) assert.ok(plant(planted, programSources()).size > 0, planted.name);
    assert.equal(PLANTED.length, 82);
  });

  test("stays planted when its function moves to another file", () => {
    const planted = { name: "late", patches: [inside("late", "now > by", "false")], inFlows: false };
    const other = "export function early(now: number, by: number) {\n  return now > by;\n}\n";
    const moved =
      "const DAY = 1;\n\nexport function late(now: number, by: number) {\n  return now > by;\n}\n";
    const sources = new Map(Object.entries({ "src/a.ts": other, "src/b/c.ts": other + moved }));
    const changed = plant(planted, sources);
    assert.deepEqual([...changed], [["src/b/c.ts", other + moved.replace("now > by", "false")]]);
  });

  test("whose text is in no function of that name, or in two, is an error that names both", () => {
    const planted = { name: "late", patches: [inside("late", "now > by", "false")], inFlows: false };
    const one = "const late = (now: number, by: number) =>\n  now > by;\n\nconst other = 1;\n";
    const without = one.replace("now > by", "by < now").replace("other = 1", "other = now > by");
    assert.throws(
      () => plant(planted, new Map([["src/a.ts", without]])),
      /"late".* no function "late".*now > by/,
    );
    const twice = new Map(["src/a.ts", "src/b.ts"].map((file) => [file, one]));
    assert.throws(() => plant(planted, twice), /"late".* 2 times .*src\/a\.ts, src\/b\.ts/);
    assert.throws(
      () => plant(planted, new Map([["src/a.ts", one.replace("by;", "by && now > by;")]])),
      /2 times/,
    );
  });

  test("has a name of its own", () => {
    const names = PLANTED.map(({ name }) => name);
    assert.equal(new Set(names).size, PLANTED.length);
    assert.deepEqual(
      RARE.filter((name) => !names.includes(name)),
      [],
    );
  });
});

describe("the simulator finds", { concurrency: 2 }, () => {
  for (const { name } of PLANTED.filter((planted) => !RARE.includes(planted.name))) {
    test(name, async () => {
      const trail = trails[name];
      const { found } = await hunt(name, MOST_FOR_PLANTED, trail === undefined ? undefined : BigInt(trail));
      assert.ok(found !== undefined, `not found in ${MOST_FOR_PLANTED} seeds`);
      assert.notEqual(found.invariant, "simulator", found.what);
    });
  }
});
