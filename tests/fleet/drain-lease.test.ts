/** A worker that is told to stop beside another one: what it has in hand stays its own until it has come to rest. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { openFleet, until } from "./nodes.ts";

/** The lease of these nodes is two seconds. */
const DEFINITIONS = `
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const say = (text) => appendFileSync("log", text + " " + process.pid + "\\n");

export default (hp) => {
  const slow = hp.gate({ name: "slow", policy: "approve", run: async () => {
    say("slow begins");
    await sleep(7000);
    say("slow ends");
  } });
  hp.workflow("slow", (ctx) => ctx.call(slow, {}));
};
`;

test("a worker that is told to stop keeps an effect that takes longer than its lease", {
  timeout: 120_000,
}, async (t) => {
  const fleet = await openFleet(t);
  const definitions = join(fleet.folder, "definitions.mjs");
  writeFileSync(definitions, DEFINITIONS);
  const hp = holdpoint({ database: fleet.server.url, keyFile: fleet.keyFile, agent: "looker" });
  const lines = () => readFileSync(join(fleet.folder, "log"), "utf8").trim().split("\n");

  const first = await fleet.worker(definitions);
  writeFileSync(join(fleet.folder, "log"), "");
  const { id: slow } = await hp.workflows.start("slow", {});
  await until(() => (lines()[0]?.startsWith("slow begins") ? true : undefined), "it to be under way");
  const second = await fleet.worker(definitions);
  first.signal("SIGTERM");
  await until(async () => {
    assert.deepEqual((await hp.actions.list({ phase: "in_doubt" })).items, [], "nothing is in doubt");
    return (await hp.workflows.get(slow)).status === "completed" ? true : undefined;
  }, `${slow} to be completed: ${first.said()} ${second.said()}`);
  assert.equal(await first.ended(), 0, first.said());
  assert.deepEqual(
    lines().filter((line) => line.startsWith("slow")),
    [`slow begins ${first.pid}`, `slow ends ${first.pid}`],
  );
  await hp.close();
});
