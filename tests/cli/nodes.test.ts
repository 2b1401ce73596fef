// Who is there, and work that is posted by its name, on a file: a program runs it, terminals only ask.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, type Ran, runCli } from "./bench.ts";

function worker(folder: Folder) {
  const hp = folder.open({ agent: "clerk", node: { kind: "worker", version: "1.2.3" } });
  const input = z.object({ to: z.string(), copies: z.number().default(1) });
  hp.workflow("letter", { input }, async (_ctx, { to, copies }) => ({ to, copies }));
  return hp;
}

const started = ({ out }: Ran) =>
  JSON.parse(out) as { workflow: string; isNew: boolean; nodes: number | null; name: string };

test("work is posted by its name before anybody is there, and is done when somebody is", async (t) => {
  const folder = temporaryFolder(t);
  const first = folder.open({ agent: "other" });
  await first.gate({ name: "mail", policy: "approve", run: () => "sent" })({});
  await first.close();

  const input = '{"to":"Ann"}';
  const line = ["start", "letter", "--input", input, "--request-id", "a", "--json"];
  const posted = await runCli(folder, line);
  assert.equal(posted.code, 0, posted.err);
  assert.partialDeepStrictEqual(started(posted), { name: "letter", isNew: true, nodes: 0 });
  const told = await runCli(folder, ["start", "letter", "--input", input]);
  assert.match(
    told.out,
    /^Started: wf_\w+, "letter"\.\nNo node that is there now says that it has the definition "letter"\. It waits/,
  );
  assert.equal((await runCli(folder, ["nodes"])).out, "", "a terminal is no node");

  const hp = worker(folder);
  const working = hp.work();
  const { workflow } = started(posted);
  assert.partialDeepStrictEqual(await hp.workflows.result(workflow), { result: { to: "Ann", copies: 1 } });
  const again = started(await runCli(folder, line));
  assert.deepEqual([again.workflow, again.isNew, again.nodes], [workflow, false, 1]);

  writeFileSync(join(folder.path, "input.json"), '{"to":"Bob","copies":3}');
  const file = `@${join(folder.path, "input.json")}`;
  const waited = await runCli(folder, ["start", "letter", "--input", file, "--wait"]);
  assert.deepEqual([waited.code, JSON.parse(waited.out)], [0, { to: "Bob", copies: 3 }]);

  const unfit = await runCli(folder, ["start", "letter", "--input", '{"to":7}', "--wait"]);
  assert.deepEqual([unfit.code, unfit.out], [1, ""]);
  assert.match(
    unfit.err,
    /FAILED wf_\w+: The input does not fit the workflow "letter": .*\[invalid_args, by agent:clerk\]/,
  );

  const other = await runCli(folder, [
    "start",
    "letter",
    "--input",
    '{"to":"Eve"}',
    "--request-id",
    "a",
    "--json",
  ]);
  assert.deepEqual([other.code, errorOf(other)["code"]], [1, "request_conflict"]);

  const [here, ...others] = linesOf((await runCli(folder, ["nodes"])).out).map((row) => row.split("\t"));
  assert.deepEqual(others, []);
  assert.deepEqual(
    [...(here ?? []).slice(1, 4), ...(here ?? []).slice(5, 8)],
    ["live", "worker", "1.2.3", "0", "0", "agent:clerk"],
  );
  const all = linesOf((await runCli(folder, ["nodes", "--all", "--json"])).out).map((row) => JSON.parse(row));
  assert.partialDeepStrictEqual(all, [
    { agent: "agent:clerk", status: "live", definitions: ["letter"] },
    { agent: "agent:other", status: "closed", definitions: [] },
  ]);
  await hp.close();
  await working;
});

test("an input that cannot be read is misuse, and nothing is posted", async (t) => {
  const folder = temporaryFolder(t);
  const hp = worker(folder);
  await hp.workflows.list();
  for (const input of ["{", "@nowhere.json", "@/"]) {
    const ran = await runCli(folder, ["start", "letter", "--input", input, "--json"]);
    assert.ok([1, 2].includes(ran.code ?? 0), `${input}: ${ran.code} ${ran.err}`);
    assert.ok(errorOf(ran)["message"] ?? errorOf(ran)["what"], ran.err);
  }
  assert.equal((await runCli(folder, ["start", "letter", "--request-id", ""])).code, 2);
  assert.deepEqual((await hp.workflows.list()).items, []);
});
