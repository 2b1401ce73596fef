/** `npm test` runs every test file once, alone or together with others. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const ROOT = resolve(import.meta.dirname, "../..");

type Scripts = {
  filesBelow(folder: string): readonly string[];
  grouped(files: readonly string[]): { readonly files: readonly string[]; remove(): void };
  membersOf(file: string): readonly string[] | undefined;
};

async function scripts(): Promise<Scripts> {
  const load = async (name: string): Promise<object> =>
    import(pathToFileURL(resolve(ROOT, "scripts", name)).href);
  return { ...(await load("files.mjs")), ...(await load("test-groups.mjs")) } as Scripts;
}

test("every test file is in one group or alone, and what groups are written to is removed", async () => {
  const { filesBelow, grouped, membersOf } = await scripts();
  const all = ["src", "tests", "dashboard/src"]
    .flatMap(filesBelow)
    .filter((file) => file.endsWith(".test.ts"));
  assert.ok(all.length > 400, "it is run at the root of the repository");
  const { files, remove } = grouped(all);
  const run = files.flatMap((file) => membersOf(resolve(file)) ?? [resolve(file)]);
  assert.deepEqual(run.toSorted(), all.map((file) => resolve(file)).toSorted());
  assert.ok(files.length < all.length / 2, `${files.length} of ${all.length} are started`);
  const groups = files.filter((file) => membersOf(resolve(file)) !== undefined);
  remove();
  assert.ok(!groups.some((group) => existsSync(group)));
});

test("what needs a process of its own is alone", async () => {
  const { grouped } = await scripts();
  const alone = ["tests/library/library.test.ts", "tests/supervise/postgres.test.ts"];
  const { files, remove } = grouped([...alone, "src/approvals/rules/binding.test.ts"]);
  remove();
  assert.deepEqual(
    files.filter((file) => file.startsWith("tests/")),
    alone,
  );
});
