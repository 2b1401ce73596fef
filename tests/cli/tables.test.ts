// Every list on a narrow terminal, of a store whose names, addresses and reasons are long.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { RESOURCES } from "../../src/cli/resource-table.ts";
import { widthOf } from "../../src/cli/shell/terminal.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { environment } from "./bench.ts";
import { crowd } from "./crowded.ts";
import { hosted } from "./hosted.ts";

/** Beside the resources of `src/cli/resources/`. */
const OTHERS = ["approvals", "approvals --mine", "workflows", "in-doubt", "policy list"];

/** A list shows the most with `--all`. */
function widest(name: string): string {
  const { flags = {} } = COMMANDS.find((command) => command.name === name) ?? {};
  return Object.hasOwn(flags, "all") ? `${name} --all` : name;
}

const LISTS = [...RESOURCES.map(({ name }) => name), ...OTHERS].map(widest);

let cleanup: () => unknown = () => undefined;
const folder: Folder = temporaryFolder({
  after(work) {
    cleanup = work as () => unknown;
  },
});
before(() => crowd(folder));
after(() => cleanup());

async function printed(line: string, columns: number): Promise<readonly string[]> {
  const env = { ...environment(folder), NO_COLOR: "1", HOLDPOINT_PERSON: "root" };
  const { code, out, err } = await hosted({ args: line.split(" "), cwd: process.cwd(), env, columns });
  assert.deepEqual([code, err], [0, ""], line);
  return out.trimEnd().split("\n");
}

/** The cells of one column. */
function column(lines: readonly string[], head: string): readonly string[] {
  const [heads = "", ...rows] = lines;
  const from = heads.indexOf(head);
  return from < 0 ? [] : rows.map((row) => row.slice(from).split("  ")[0]?.trimEnd() ?? "");
}

const statuses = (lines: readonly string[]) => column(lines, "STATUS");

describe("a table", () => {
  for (const line of LISTS)
    test(`of ${line} fits 80 columns, and a narrower terminal, with whole heads and statuses`, async () => {
      for (const columns of [40, 80]) {
        const lines = await printed(line, columns);
        assert.match(lines[0] ?? "", /^[A-Z]+( [A-Z]+)*( {2,}[A-Z]+( [A-Z]+)*)+$/);
        assert.ok(lines.length > 1, "there are rows");
        assert.deepEqual(
          lines.filter((one) => widthOf(one) > columns),
          [],
        );
        if (columns === 80)
          assert.deepEqual(
            statuses(lines).filter((one) => one.includes("…")),
            [],
          );
      }
    });

  test("shows at least 24 characters of what is asked at 80 columns", async () => {
    for (const line of ["approvals", "approvals --all"]) {
      const cells = column(await printed(line, 80), "TITLE");
      assert.ok(Math.max(...cells.map(widthOf)) >= 24, cells.join("\n"));
    }
  });

  test("of approvals shows a question's text, and the arguments where there is room", async () => {
    const [heads = "", ...rows] = await printed("approvals", 200);
    assert.match(heads, / TITLE +ARGUMENTS$/);
    assert.ok(rows.some((row) => row.includes("which-ledger: Which ledger is it")));
    assert.ok(rows.some((row) => row.includes('{"amount_usd":1249.5')));
  });
});

test("what is said of an empty list, and below a list, is folded at the width", async () => {
  for (const line of [
    "approvals --status expired",
    "workflows --status rolling-back",
    "policy list",
    "in-doubt",
  ]) {
    const lines = await printed(line, 40);
    assert.deepEqual(
      lines.filter((one) => widthOf(one) > 40),
      [],
      line,
    );
  }
  const [first, second] = (await printed("in-doubt", 80)).slice(-2);
  assert.equal(first, "Find out what happened, then: npx holdpoint resolve <effect>");
  assert.equal(second, '  applied|not_applied --reason "…"');
});
