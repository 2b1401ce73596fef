/**
 * A store in which much has happened: a month of a company's agents and people, and what waits for somebody now. The same every
 * time, but for ids: drawn from a seed, and written at times of its own.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Holdpoint, holdpoint, type PolicyText } from "../../src/index.ts";
import { type SetTime, setTime } from "./time.ts";
import { DAY_MS, HOUR_MS, sceneOf } from "./world/decide.ts";
import { type Definitions, defineFlows, type Flows, past, present } from "./world/flows.ts";
import { doubts, work } from "./world/history.ts";
import { grantRefunds, openBudgets, raiseAlert, tellOutside } from "./world/outside.ts";
import { addPeople, changePeople } from "./world/people.ts";
import { VERSIONS } from "./world/policy.ts";
import { defineTools } from "./world/tools.ts";
import { ask, type Waiting } from "./world/waiting.ts";

/** When it is now: a Wednesday, a little before noon. */
export const NOW = Date.UTC(2026, 0, 14, 11, 40, 20);

export type World = Waiting &
  Flows & {
    readonly grant: string;
    /** One that was done, with a receipt. */
    readonly action: string;
    /** One that people have decided. */
    readonly decided: string;
  };

/** What the server declares too: the workflows go on there. */
export function defineWorld(hp: Holdpoint): Definitions {
  hp.remote.tool({ name: "dns.point", policy: "approve", undo: true });
  return defineFlows(hp, defineTools(hp));
}

type Program = { readonly hp: Holdpoint; readonly definitions: Definitions };

/** One program after the other on the same store, each under the next version of the policy. */
async function under<Value>(
  folder: string,
  policy: PolicyText | undefined,
  act: (program: Program) => Promise<Value>,
): Promise<Value> {
  const hp = holdpoint({
    ...{ folder: join(folder, "data"), keyFile: join(folder, "key.json"), agent: "back-office" },
    ...(policy === undefined ? {} : { policy }),
    node: { kind: "worker", version: "0.1.0" },
    notify: () => undefined,
  });
  try {
    return await act({ hp, definitions: defineWorld(hp) });
  } finally {
    await hp.close();
  }
}

async function fill(folder: string, time: SetTime): Promise<World> {
  const [first, second, third] = VERSIONS;
  time.at(NOW - 31 * DAY_MS);
  await under(folder, first, async ({ hp }) => {
    await addPeople(hp);
    await openBudgets(hp);
    await work(sceneOf(hp, time, 1), NOW, 30, 20);
  });
  const over = await under(folder, second, async ({ hp, definitions }) => {
    const scene = sceneOf(hp, time, 2);
    await work(scene, NOW, 20, 9);
    await changePeople(hp);
    return past(scene, definitions);
  });
  return under(folder, third, async ({ hp, definitions }) => {
    const scene = sceneOf(hp, time, 3);
    await work(scene, NOW, 9, 1);
    const grant = await grantRefunds(scene);
    time.at(NOW - 20 * HOUR_MS);
    await raiseAlert(scene);
    await tellOutside(hp, () => doubts(scene));
    time.at(NOW - 2 * HOUR_MS);
    const flows = await present(scene, definitions);
    const waiting = await ask(scene, NOW);
    time.at(NOW);
    const [done] = (await hp.actions.list({ phase: "applied", limit: 1 })).items;
    const [decided] = (await hp.approvals.list({ status: "decided", order: "newest", limit: 1 })).items;
    return { ...over, ...flows, ...waiting, grant, action: done?.id ?? "", decided: decided?.id ?? "" };
  });
}

/** From now on it is `NOW` in this process, until `time.restore()`. Answers the ids of what is worth looking at. */
export async function fillWorld(folder: string, time: SetTime = setTime()): Promise<World> {
  const world = await fill(folder, time);
  // The server follows it, as people would change it.
  writeFileSync(join(folder, "operations.json"), JSON.stringify(VERSIONS.at(-1), null, 2));
  return world;
}
