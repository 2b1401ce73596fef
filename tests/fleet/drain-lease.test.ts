/** A worker that is told to stop beside another one: what it has in hand stays its own until it has come to rest. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { until } from "../fixtures/until.ts";
import { openFleet } from "./nodes.ts";

/** The lease of these nodes is two seconds. */
const DEFINITIONS = `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const say = (text) => appendFileSync("log", text + " " + process.pid + "\\n");

export default (hp) => {
  const slow = hp.gate({ name: "slow", policy: "approve", run: async () => {
    say("slow begins");
    await sleep(7000);
    say("slow ends");
  } });
  hp.workflow("slow", (ctx) => ctx.call(slow, {}));

  const patient = hp.gate({ name: "patient", policy: "approve", run: async () => {
    say("patient begins");
    while (!existsSync("over")) await sleep(50);
    say("patient ends");
  } });
  hp.workflow("patient", (ctx) => ctx.call(patient, {}));

  const ticks = async (ctx) => {
    for (let n = 0; n < 200; n++) await ctx.step("tick", async () => {
      await sleep(100);
      say("tick");
    });
  };
  hp.workflow("ticks", ticks);

  const shaky = hp.gate({ name: "shaky", effect: "idempotent", attempts: 20, policy: "approve", run: async () => {
    say("shaky begins");
    await sleep(1500);
    if (!existsSync("up")) throw new Error("it is down");
    return "done";
  } });
  hp.workflow("shaky", (ctx) => ctx.call(shaky, {}));
};
`;

/** A worker, and a way to start another one beside it. */
async function scene(t: TestContext) {
  const fleet = await openFleet(t);
  const definitions = join(fleet.folder, "definitions.mjs");
  const write = (name: string, text = "") => writeFileSync(join(fleet.folder, name), text);
  write("definitions.mjs", DEFINITIONS);
  write("log");
  const lines = () => readFileSync(join(fleet.folder, "log"), "utf8").trim().split("\n");
  return {
    hp: holdpoint({ database: fleet.server.url, keyFile: fleet.keyFile, agent: "looker" }),
    lines,
    heard: (line: string) => until(() => (lines().includes(line) ? true : undefined), line),
    write,
    first: await fleet.worker(definitions),
    another: () => fleet.worker(definitions),
  };
}

test("a worker that is told to stop keeps an effect that takes longer than its lease", {
  timeout: 120_000,
}, async (t) => {
  const { hp, lines, heard, first, another } = await scene(t);
  const { id: slow } = await hp.workflows.start("slow", {});
  await heard(`slow begins ${first.pid}`);
  const second = await another();
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

test("a worker that is told to stop lets go of what has nothing under way, and leaves to others what may be sent again", {
  timeout: 120_000,
}, async (t) => {
  const { hp, lines, heard, write, first, another } = await scene(t);
  const ids: string[] = [];
  for (const name of ["patient", "ticks", "shaky"]) ids.push((await hp.workflows.start(name, {})).id);
  for (const line of ["patient begins", "tick", "shaky begins"]) await heard(`${line} ${first.pid}`);
  const second = await another();
  first.signal("SIGTERM");
  await heard(`tick ${second.pid}`);
  assert.ok(!lines().includes(`patient ends ${first.pid}`), "the first still drains when the second goes on");
  write("over");
  assert.equal(await first.ended(), 0, first.said());
  write("up");
  await until(async () => {
    assert.deepEqual((await hp.actions.list({ phase: "in_doubt" })).items, [], "nothing is in doubt");
    const found = await Promise.all(ids.map((id) => hp.workflows.get(id)));
    return found.every(({ status }) => status === "completed") ? true : undefined;
  }, `all to be completed: ${first.said()} ${second.said()}`);
  assert.ok(lines().includes(`shaky begins ${second.pid}`), "it is sent again elsewhere");
  const steps = lines().filter((line) => line.startsWith("tick"));
  assert.equal(steps.length, 200, "no step was repeated");
  await hp.close();
});
