import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { PLANTED, RARE } from "./planted.ts";
import { patched } from "./planted-bug.ts";
import { hunt } from "./pool.ts";
import { runSeed } from "./run-seed.ts";

const MOST_FOR_PLANTED = 300;
const ROOT = new URL("../../../", import.meta.url);

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
  test("is planted in text that exists", () => {
    for (const planted of PLANTED) {
      for (const { file } of planted.patches)
        patched(planted, file, readFileSync(new URL(file, ROOT), "utf8"));
    }
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
