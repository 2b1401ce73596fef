/** Which versions of policies are in force now, in which programs, and until when the others were. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { HoldpointError } from "../../src/kernel/errors.ts";
import { policiesNow } from "../../src/policy/explain-action.ts";
import { livePolicy } from "../../src/policy/live-policy.ts";
import { listPolicies } from "../../src/policy/versions.ts";
import { eraseEntries } from "../fixtures/erase-entries.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { machine, type Process } from "../fixtures/runtime.ts";
import { FINAL, GOAL, scripted } from "../supervise/refund.ts";

const named = (policy: string, more = "") => `policy: ${policy}\ndefault: approve\n${more}`;
const act = (hp: Holdpoint) => hp.gate({ name: "act", policy: "approve", run: () => null });

function fileIn({ path }: Folder, text: string): string {
  const file = join(path, "..", "policy.yaml");
  writeFileSync(file, text);
  return file;
}

/** `name: standing, n programs` for each version, oldest first by policy. */
async function standings(hp: Holdpoint): Promise<readonly string[]> {
  return (await admin(hp).policies.list()).map(
    ({ name, standing, programs }) => `${name}: ${standing} ${programs.length}`,
  );
}

async function until(hp: Holdpoint, wanted: readonly string[]): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if (JSON.stringify(await standings(hp)) === JSON.stringify(wanted)) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(await standings(hp), wanted);
}

describe("a version of a policy", () => {
  test("is in force while a program judges by it, from its first effect until it closes", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open({ policy: fileIn(folder, named("house")), agent: "shop" });
    assert.deepEqual(await standings(hp), ["house: unused 0"], "it has performed nothing yet");
    await act(hp)({}, { requestId: "a" });
    const [used] = await admin(hp).policies.list();
    assert.partialDeepStrictEqual(used, { standing: "used", until: null });
    assert.partialDeepStrictEqual(used?.programs, [{ by: "agent:shop", runs: true, until: null }]);
    assert.match(used?.programs[0]?.process ?? "", new RegExp(`/${process.pid}$`));
    await hp.close();
    const reader = folder.open({ mode: "existing" });
    const [ended] = await admin(reader).policies.list();
    assert.equal(ended?.standing, "ended");
    assert.equal(ended?.until, ended?.programs[0]?.until);
    assert.ok((ended?.until ?? 0) >= (ended?.at ?? Number.NaN));
    assert.equal((await admin(reader).policies.get("house")).standing, "ended");
  });

  test("is in force until the last of several programs has ended", async (context) => {
    const folder = temporaryFolder(context);
    const policy = fileIn(folder, named("house"));
    const [one, two] = [folder.open({ policy }), folder.open({ policy })];
    await act(one)({}, { requestId: "a" });
    await act(two)({}, { requestId: "b" });
    assert.deepEqual(await standings(two), ["house: used 2"]);
    await one.close();
    assert.deepEqual(await standings(two), ["house: used 2"]);
    await two.close();
    assert.deepEqual(await standings(folder.open()), ["house: ended 2"]);
  });

  test("ends when its file has another one, and when its file is another policy", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open({ policy: fileIn(folder, named("house")) });
    await act(hp)({}, { requestId: "a" });
    fileIn(folder, named("house", "description: newer\n"));
    await until(hp, ["house: ended 1", "house: used 1"]);
    fileIn(folder, named("home"));
    await until(hp, ["house: ended 1", "house: ended 1", "home: used 1"]);
    const [first, second] = await admin(hp).policies.list();
    assert.ok(first?.until !== null && second?.until !== null);
    assert.equal((await hp.journal.verify()).ok, true);
  });

  test("that is put back is in force again, and says so of that time", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open({ policy: fileIn(folder, named("house")) });
    await act(hp)({}, { requestId: "a" });
    fileIn(folder, named("house", "description: newer\n"));
    await until(hp, ["house: ended 1", "house: used 1"]);
    fileIn(folder, named("house"));
    await until(hp, ["house: ended 1", "house: ended 1", "house: used 1"]);
  });

  test("of a run is in force while the run goes on and no longer, once however many go by it", async (context) => {
    const hp = temporaryFolder(context).open();
    const policy = { policy: "runs", default: "approve" } as const;
    const answers: (() => void)[] = [];
    const slow = () =>
      new Promise<{ text: string }>((resolve) =>
        answers.push(() => resolve({ text: JSON.stringify(FINAL) })),
      );
    const run = (id: string) =>
      hp.supervise({ id, goal: GOAL, tools: [], policy: { ...policy }, model: scripted(slow) });
    const [one, two] = [run("a"), run("b")];
    while (answers.length < 2) await new Promise<void>((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(await standings(hp), ["runs: used 1"]);
    answers[0]?.();
    await Promise.race([one, two]);
    assert.deepEqual(await standings(hp), ["runs: used 1"], "the other run goes by it");
    answers[1]?.();
    await Promise.all([one, two]);
    assert.deepEqual(await standings(hp), ["runs: ended 1"]);
    const again = run("c");
    while (answers.length < 3) await new Promise<void>((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(await standings(hp), ["runs: used 1"]);
    answers[2]?.();
    await again;
    assert.deepEqual(await standings(hp), ["runs: ended 1"]);
  });

  test("of a run's file is out of force with the last run that goes by it; the next run reads the file anew", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const policy = fileIn(folder, named("runs"));
    const run = () => hp.supervise({ goal: GOAL, tools: [], policy, model: scripted(FINAL) });
    await Promise.all([run(), run()]);
    assert.deepEqual(await standings(hp), ["runs: ended 1"]);
    fileIn(folder, named("runs", "description: newer\n"));
    await run();
    assert.deepEqual(await standings(hp), ["runs: ended 1", "runs: ended 1"]);
  });

  test("of a run that could not begin is not in force", async (context) => {
    const hp = temporaryFolder(context).open();
    const policy = { policy: "runs", default: "approve" } as const;
    hp.workflow("taken", async () => null);
    const run = (name: string) =>
      hp.supervise({ name, goal: GOAL, tools: [], policy, model: scripted(FINAL) });
    await run("first");
    await assert.rejects(run("taken"), { code: "tool_conflict" });
    assert.deepEqual(await standings(hp), ["runs: ended 1"]);
  });

  test("opened together with the first effects is told of once, with the epoch", async () => {
    const place = machine();
    const one = place.process();
    await Promise.all([
      livePolicy({ policy: "late", default: "approve" }, { tools: new Map() }).open(one.runtime),
      one.runtime.epoch(),
      livePolicy({ policy: "late", default: "approve" }, { tools: new Map() }).open(one.runtime),
    ]);
    const [late] = await listPolicies(one.runtime);
    assert.equal(late?.programs.length, 1);
    await one.close();
  });

  test("of a program that was killed is not in force, though nobody knows when it ended", async () => {
    const place = machine();
    const open = async (): Promise<Process> => {
      const one = place.process();
      await livePolicy({ policy: "p", default: "approve" }, { tools: new Map() }).open(one.runtime);
      await one.runtime.epoch();
      return one;
    };
    (await open()).crash();
    const next = place.process();
    const [dead] = await listPolicies(next.runtime);
    assert.partialDeepStrictEqual(dead, { standing: "ended", until: null });
    const living = await open();
    const [version] = await listPolicies(next.runtime);
    assert.equal(version?.standing, "used");
    assert.deepEqual(
      version?.programs.map(({ runs }) => runs),
      [true, false],
    );
    await living.close();
    await next.close();
  });
});

test("a version of which no program has said anything is unused, and was in force at most until the next", async (context) => {
  const folder = temporaryFolder(context);
  for (const description of ["one", "two"]) {
    const hp = folder.open({ policy: { policy: "p", default: "approve", description } });
    await hp.approvals.list();
    await hp.close();
  }
  const [first, second] = await admin(folder.open()).policies.list();
  assert.equal(first?.until, second?.at);
  assert.partialDeepStrictEqual(second, { standing: "unused", until: null, by: "agent:tester" });
});

describe("an action that was judged by a version whose document was erased", () => {
  /** One action under `house`; then a newer `house`, and another policy, are put in force. */
  async function judged(context: TestContext) {
    const folder = temporaryFolder(context);
    const texts = [named("house"), named("house", "description: newer\n"), named("other")];
    const actions: string[] = [];
    for (const [index, policy] of texts.entries()) {
      const hp = folder.open({ policy: fileIn(folder, policy) });
      const { action } = await hp.gate({ name: "act", run: () => null })({}, { requestId: `${index}` });
      actions.push(action);
      await hp.close();
    }
    return { folder, action: actions[0] ?? "" };
  }

  const explained = async (hp: Holdpoint, action: string) =>
    (await admin(hp).policies.explain({ id: action })).map(({ policy, digest }) => [policy, digest]);

  test("is explained by the policy of that name that is in force now, and by no other", async (context) => {
    const { folder, action } = await judged(context);
    const whole = folder.open({ mode: "existing" });
    const [house, newer] = await admin(whole).policies.list();
    const before = await explained(whole, action);
    assert.deepEqual(before, [["house", newer?.digest]]);
    await whole.close();
    const isHouse = (type: string, body: string) =>
      type === "policy.adopted" && body.includes(house?.digest ?? "?");
    assert.equal(eraseEntries(join(folder.path, "journal.db"), isHouse), 1);
    const hp = folder.open({ mode: "existing" });
    assert.deepEqual(await explained(hp, action), before);
    const { policies } = admin(hp);
    const [left] = await policies.list();
    assert.partialDeepStrictEqual(left, { name: "house", digest: house?.digest, by: "(erased)" });
    await assert.rejects(policies.get(house?.digest ?? ""), { code: "body_erased" });
  });

  test("takes the name from the list: an erased document has none", async (context) => {
    const { folder } = await judged(context);
    const { policies } = admin(folder.open({ mode: "existing" }));
    const [house, newer] = await policies.list();
    const get: typeof policies.get = (digest) =>
      digest === house?.digest
        ? Promise.reject(new HoldpointError("body_erased", "The document was erased."))
        : policies.get(digest);
    const said = { verdict: "approve", rule: "default", reason: "", policy: house?.digest ?? "" } as const;
    const documents = [house?.digest ?? ""];
    const { kept, gone } = await policiesNow({ list: policies.list, get }, { ...said, documents } as never);
    assert.deepEqual([kept.map(({ digest }) => digest), gone], [[newer?.digest], documents]);
  });
});
