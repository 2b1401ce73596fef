/** Workers on one database: what one leaves, by death, frost or farewell, another one goes on with. */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { until } from "../fixtures/until.ts";
import { STEPS } from "./definitions.ts";
import { type Fleet, openFleet } from "./nodes.ts";

const MANY = 4;

const linesOf = ({ folder }: Fleet): readonly string[] => {
  try {
    return readFileSync(join(folder, "log"), "utf8").trim().split("\n");
  } catch {
    return [];
  }
};
const pause = ({ folder }: Fleet) => writeFileSync(join(folder, "pause"), "");
const goOn = ({ folder }: Fleet) => rmSync(join(folder, "pause"));

async function startAndKill(fleet: Fleet): Promise<readonly string[]> {
  const starter = fleet.start(
    join(import.meta.dirname, "starter.ts"),
    ...[fleet.server.url, fleet.folder, fleet.keyFile, String(MANY)],
  );
  await until(
    () => (starter.said().includes("started") ? true : undefined),
    `the starter: ${starter.said()}`,
  );
  starter.signal("SIGKILL");
  await starter.ended();
  return starter
    .said()
    .split("\n")
    .filter((line) => line.startsWith("wf_"));
}

test("what one leaves, by death, frost or farewell, another one goes on with", {
  timeout: 180_000,
}, async (t) => {
  const fleet = await openFleet(t);
  pause(fleet);
  const ids = await startAndKill(fleet);
  assert.equal(ids.length, MANY);
  // Before the database is stopped: it is closed at the end of the test, or with the process.
  const hp = holdpoint({ database: fleet.server.url, keyFile: fleet.keyFile, notify: () => undefined });
  const runners = async () => {
    const all = await Promise.all(ids.map((id) => hp.workflows.get(id)));
    return new Set(all.map(({ runner }) => runner));
  };
  const taken = (from: ReadonlySet<string | null>) =>
    until(async () => {
      const now = await runners();
      return [...now].some((one) => one === null || from.has(one)) ? undefined : now;
    }, "to be taken over");

  const dead = await runners();
  const first = await fleet.worker();
  const byFirst = await taken(dead);
  const second = await fleet.worker();
  first.signal("SIGSTOP");
  const bySecond = await taken(new Set([...dead, ...byFirst]));
  first.signal("SIGCONT");
  await until(() => (first.said().includes("lost the lease") ? true : undefined), "the frozen one to notice");
  second.signal("SIGKILL");
  await second.ended();
  await taken(new Set([...dead, ...byFirst, ...bySecond]));
  goOn(fleet);
  await until(async () => {
    const all = await Promise.all(ids.map((id) => hp.workflows.get(id)));
    return all.every(({ status }) => status === "completed") ? true : undefined;
  }, "all to be completed");
  const last = new Set(linesOf(fleet).map((line) => line.split(" ").slice(0, 2).join(" ")));
  assert.equal(last.size, MANY * STEPS);
  first.signal("SIGTERM");
  assert.equal(await first.ended(), 0, first.said());
  assert.deepEqual((await hp.journal.verify()).findings, []);
  await hp.close();
});
