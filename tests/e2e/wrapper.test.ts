// The README's wrapper around an agent: short, the same as the example, and it does what the README says of it.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { blocksOf, readRoot } from "../docs/markdown.ts";
import { cli, killHard, linesOf, makePlace, type Place, ROOT, run, startUntil } from "./program.ts";

const FEWER_THAN = 20;
const blocks = blocksOf("README.md").filter(({ language }) => language === "ts");
const at = blocks.findIndex(({ marks }) => marks.includes("continued"));
const agent = blocks[at - 1]?.text ?? "";
const wrapper = blocks[at]?.text ?? "";

test("an agent is put under supervision in fewer than 20 lines of code", () => {
  const lines = wrapper.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
  assert.ok(lines.some((line) => line.includes("hp.workflow(")));
  assert.ok(lines.length < FEWER_THAN, `${lines.length} lines`);
});

test("the README's agent and wrapper are examples/wrap-agent.ts", () => {
  const [before, after] = readRoot("examples/wrap-agent.ts").split("// The supervision begins here.\n");
  assert.equal(before?.replace(/^\/\/[^\n]*\n/, ""), `${agent}\n`);
  assert.equal(after, wrapper);
});

/** With a flight that is dear enough to ask about, and a log of what was booked. */
function writeProgram(place: Place): string {
  mkdirSync(path.join(place.folder, "node_modules"));
  symlinkSync(ROOT, path.join(place.folder, "node_modules/holdpoint"), "dir");
  writeFileSync(path.join(place.folder, "package.json"), '{ "type": "module" }');
  const file = path.join(place.folder, "travel.ts");
  const log = 'import { appendFileSync } from "node:fs";\n';
  const dear = agent
    .replace("usd: 240", "usd: 900")
    .replace("({ booked:", '(appendFileSync("booked.log", "booked\\n"), { booked:');
  assert.notEqual(dear, agent);
  writeFileSync(file, log + dear + wrapper);
  return file;
}

test("the wrapped agent asks, is killed while it waits, goes on after the approval, and books once", async () => {
  const place = makePlace();
  try {
    const program = writeProgram(place);
    const { child, match } = await startUntil(place, program, /approve (apr_[0-9A-Z]{26})/);
    await killHard(child);
    const approved = cli(place, "approve", match[1] ?? "");
    assert.equal(approved.code, 0, approved.err);
    const second = run(place, program);
    assert.match(second.out, /status: 'completed'/);
    assert.match(second.out, /booked/);
    assert.equal(run(place, program).out, second.out);
    assert.deepEqual(linesOf(place, "booked.log"), ["booked"]);
    assert.equal(cli(place, "verify").code, 0);
  } finally {
    place.remove();
  }
});
