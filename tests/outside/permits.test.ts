/** A permit is handed out once: agents over real HTTP, agents that are killed, and every effect class. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { readPermitCaller } from "../../src/agents/remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "../../src/agents/remote-proposal.ts";

import {
  type Holdpoint,
  isHoldpointError,
  type Permit,
  type RemoteAnswer,
  type RemoteTool,
} from "../../src/index.ts";
import { sha256 } from "../../src/kernel/canonical-json.ts";
import { HoldpointError } from "../../src/kernel/errors.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { serverBench } from "../fixtures/server.ts";
import { runAgent, storedHolder } from "./agent.ts";

const FAR = { agent: "agent:far" };
const [MINE, OTHERS] = ["mine_0123456789abcdefgh", "other_0123456789abcdefg"];
const ANN = { by: "person:ann" };

const code = (wanted: string) => (error: unknown) => isHoldpointError(error) && error.code === wanted;

function permit(answer: RemoteAnswer): Permit {
  if (answer.status === "permitted") return answer;
  return assert.fail(`not permitted but ${answer.status}`);
}

function stateFolder(t: Pick<TestContext, "after">): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-agent-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const wires = (hp: Holdpoint) => hp.remote.tool({ name: "wire", policy: "approve" });

describe("twenty agents with one request id perform a once effect exactly once", () => {
  const AGENTS = 20;

  async function twenty(t: TestContext, holderOf: (index: number) => { readonly holder?: string }) {
    const { url, ask } = await serverBench(t, { define: wires });
    let effects = 0;
    const perform = async () => {
      effects += 1;
      await setImmediate();
    };
    const agents = Array.from({ length: AGENTS }, (_, index) =>
      runAgent({ url, ...holderOf(index), perform }),
    );
    const told = await Promise.all(agents);
    const { body } = await ask("/api/actions/rent-may");
    return { effects, told, phase: body["phase"] };
  }

  test("each with a holder of its own, as the guide says: the others perform nothing, and it is applied", async (t) => {
    const { effects, told, phase } = await twenty(t, () => ({ holder: storedHolder(stateFolder(t)) }));
    assert.equal(effects, 1);
    assert.equal(phase, "applied");
    assert.equal(told.filter((one) => one === "performed, reported").length, 1);
    for (const one of told) assert.match(one, /^(performed, reported|pending|done)$/);
  });

  test("all with one stored holder", async (t) => {
    const holder = storedHolder(stateFolder(t));
    const { effects, told } = await twenty(t, () => ({ holder }));
    assert.equal(effects, 1);
    assert.equal(told.filter((one) => one.startsWith("performed")).length, 1);
  });

  test("without a holder, as agents of older versions ask", async (t) => {
    const { effects, told } = await twenty(t, () => ({}));
    assert.equal(effects, 1);
    assert.equal(told.filter((one) => one.startsWith("performed")).length, 1);
  });
});

test("an agent that is killed between performing and reporting, and started again, is in doubt and performs nothing twice", async (t) => {
  const { url, ask } = await serverBench(t, { define: wires });
  const folder = stateFolder(t);
  const run = async (...more: readonly string[]) => {
    const program = join(import.meta.dirname, "agent.ts");
    const child = spawn(process.execPath, [program, url, folder, ...more], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += String(chunk);
    });
    const [, signal] = (await once(child, "close")) as [number | null, string | null];
    return { said, signal };
  };
  assert.equal((await run("die")).signal, "SIGKILL");
  assert.equal((await run()).said, "in_doubt");
  assert.equal((await run()).said, "in_doubt");
  assert.equal(readFileSync(join(folder, "effects.log"), "utf8"), "wired 900\n");
  const { body } = await ask("/api/actions?phase=in_doubt");
  assert.equal((body["actions"] as unknown[]).length, 1);
});

describe("a permit that was begun and is asked for again", () => {
  type Asks = { readonly begun: Permit; readonly again: (more?: object) => Promise<RemoteAnswer> };

  async function begun(t: TestContext, tool: Partial<RemoteTool<never>>): Promise<Asks & { hp: Holdpoint }> {
    const hp = temporaryFolder(t).open();
    hp.remote.tool({ name: "x", policy: "approve", ...tool } as RemoteTool<never>);
    const asked = { tool: "x", args: { n: 1 }, requestId: "r", ...FAR, holder: MINE, begin: true };
    const first = permit(await hp.remote.propose(asked));
    assert.deepEqual([first.begun, first.handedOut], [true, 1]);
    return { hp, begun: first, again: (more = {}) => hp.remote.propose({ ...asked, ...more }) };
  }

  for (const effect of ["read", "idempotent", "keyed"] as const)
    test(`is handed out again where the tool is ${effect}, and counted`, async (t) => {
      const { hp, begun: first, again } = await begun(t, { effect });
      assert.deepEqual(await again(), { ...first, handedOut: 2 });
      assert.deepEqual(await again({ holder: OTHERS }), { ...first, handedOut: 3 });
      const fourth = await hp.remote.begin(first.action, { ...FAR, holder: MINE });
      assert.deepEqual(fourth, { ...first, handedOut: 4 });
      const entries = await hp.journal.read(first.action);
      assert.equal(entries.filter(({ type }) => type === "effect.handed_out").length, 3);
      const { receipt } = await hp.remote.report(first.action, { ...FAR, status: "applied" });
      assert.equal(receipt.status, "applied");
    });

  test("is in doubt where the receiver of a keyed tool has forgotten the key", async (t) => {
    const { again } = await begun(t, { effect: "keyed", keyRetentionMs: 0 });
    assert.equal((await again({ holder: OTHERS })).status, "pending");
    assert.partialDeepStrictEqual(await again(), { status: "in_doubt", receipt: { status: "in_doubt" } });
  });

  test("is probed where the tool is probed: applied ends the doubt, everything else leaves it to people", async (t) => {
    const applied = await begun(t, { effect: "probed", verify: () => ({ answer: "applied", result: 7 }) });
    const receipt = { status: "applied", by: "probe" };
    assert.partialDeepStrictEqual(await applied.again(), { status: "done", result: 7, receipt });
    for (const answer of ["not_applied", "unknown"] as const) {
      const { again } = await begun(t, { effect: "probed", verify: () => ({ answer }) });
      assert.partialDeepStrictEqual(await again(), { status: "in_doubt", receipt: { status: "in_doubt" } });
    }
  });

  test("is in doubt where the tool is once, shown to people, and a person ends the doubt", async (t) => {
    const { hp, begun: first, again } = await begun(t, {});
    assert.equal((await again({ holder: OTHERS })).status, "pending");
    const doubt = await again();
    assert.partialDeepStrictEqual(doubt, {
      status: "in_doubt",
      receipt: { status: "in_doubt", by: "permit" },
    });
    assert.deepEqual(await again({ holder: OTHERS }), doubt);
    const { items } = await hp.actions.list({ phase: "in_doubt" });
    assert.deepEqual(
      items.map(({ id }) => id),
      [first.action],
    );
    const late = await hp.remote.report(first.action, { ...FAR, status: "applied", result: 1 });
    assert.equal(late.kind, "late");
    await hp.actions.resolve(first.effect, { ...ANN, status: "applied", reason: "on the statement" });
    assert.partialDeepStrictEqual(await again(), { status: "done", receipt: { status: "applied" } });
    assert.equal((await hp.journal.verify()).ok, true);
  });

  test("of a transactional tool there is none: it is not declared, and not proposed where a policy names it", async (t) => {
    const rules = [{ id: "all", tool: "*", verdict: "approve" }] as const;
    const policy = { policy: "p", tools: { post: { effect: "transactional" } }, rules } as const;
    const hp = temporaryFolder(t).open({ policy });
    const declared = { name: "x", effect: "transactional" } as unknown as RemoteTool<never>;
    assert.throws(() => hp.remote.tool(declared), code("invalid_input"));
    await assert.rejects(hp.remote.propose({ tool: "post", requestId: "r", ...FAR }), code("invalid_input"));
  });
});

describe("a permit that was issued and not begun", () => {
  test("is the same for its holder, pending for everybody else, and begun once", async (t) => {
    const hp = temporaryFolder(t).open();
    wires(hp);
    const asked = { tool: "wire", requestId: "r", ...FAR };
    const first = permit(await hp.remote.propose({ ...asked, holder: MINE }));
    assert.equal(first.begun, false);
    const { action, reportBy } = first;
    assert.deepEqual(await hp.remote.propose({ ...asked, holder: MINE }), first);
    const pending = { status: "pending", action, waitingFor: "holder", reportBy };
    assert.deepEqual(await hp.remote.propose({ ...asked, holder: OTHERS, begin: true }), pending);
    assert.deepEqual(await hp.remote.propose(asked), pending);
    assert.deepEqual(await hp.remote.begin(action, { ...FAR, holder: OTHERS }), pending);
    assert.deepEqual(await hp.remote.begin(action, { ...FAR, holder: MINE }), { ...first, begun: true });
    const { receipt } = await hp.remote.report(action, { ...FAR, status: "applied" });
    assert.equal(receipt.status, "applied");
  });

  test("is not begun while the kill switch is on", async (t) => {
    const hp = temporaryFolder(t).open();
    wires(hp);
    const { action } = permit(
      await hp.remote.propose({ tool: "wire", requestId: "r", ...FAR, holder: MINE }),
    );
    await hp.pause({ ...ANN, reason: "drill" });
    const begins = () => hp.remote.begin(action, { ...FAR, holder: MINE });
    assert.partialDeepStrictEqual(await begins(), {
      status: "pending",
      waitingFor: "kill_switch",
      code: "stopped",
    });
    await hp.resume({ ...ANN, reason: "over" });
    assert.equal(permit(await begins()).begun, true);
  });

  test("is refused for a holder that is too short, too long or of other characters, and the text is not repeated", async (t) => {
    const hp = temporaryFolder(t).open();
    wires(hp);
    for (const holder of ["short", `${MINE} `, "a".repeat(201), "ä".repeat(22)])
      await assert.rejects(
        hp.remote.propose({ tool: "wire", ...FAR, holder }),
        (error) => isHoldpointError(error, "invalid_input") && !error.message.includes(holder),
      );
  });
});

test("a commit whose fate was unknown is not taken for a second request: its agent gets the permit that it wrote", async (t) => {
  const bench = await serverBench(t, { define: wires });
  const { runtime } = await bench.server.office();
  const { store } = runtime;
  let isLost = true;
  /** Commits, and says every other time that it does not know. */
  const transact: typeof store.transact = async (tenant, needs, decide) => {
    const result = await store.transact(tenant, needs, decide);
    if (needs.write === undefined) return result;
    isLost = !isLost;
    if (!isLost) throw new HoldpointError("commit_unknown", "The answer of the database was lost.");
    return result;
  };
  const unsure = { ...runtime, store: { ...store, transact } };
  const wire = { tool: "wire", args: {}, ...FAR };
  const bare = permit(await proposeRemoteAction(unsure, { ...wire, requestId: "bare" }));
  assert.deepEqual([bare.begun, bare.handedOut], [true, 1]);
  const held = permit(await proposeRemoteAction(unsure, { ...wire, requestId: "held", holder: MINE }));
  const caller = readPermitCaller(runtime, { holder: MINE, begin: true });
  const begun = await takeUpPermit(unsure, held.action, { ...FAR, caller });
  assert.deepEqual(begun, { ...held, begun: true });
  const { body } = await bench.ask("/api/actions?phase=in_doubt");
  assert.deepEqual(body["actions"], []);
});

test("a holder is in no journal, log, answer or file of the store in clear", async (t) => {
  const root = stateFolder(t);
  const { ask, lines, close } = await serverBench(t, { define: wires, folder: root });
  const post = (body: object, key?: string) => ({
    method: "POST" as const,
    body: { agent: "rent", ...body },
    headers: key === undefined ? {} : { "idempotency-key": key },
  });
  const proposal = { tool: "wire", args: {}, request_id: "r", holder: MINE };
  const first = await ask("/api/actions", post(proposal, "k"));
  assert.equal(first.body["status"], "permitted", first.text);
  const path = `/api/actions/${String(first.body["action_id"])}`;
  const answers = [
    first,
    await ask("/api/actions", post(proposal, "k")),
    await ask(`${path}/begin`, post({ holder: OTHERS })),
    await ask(`${path}/begin`, post({ holder: MINE })),
    await ask(`${path}/start`, post({ holder: MINE })),
    await ask(`${path}/start`, post({ holder: `${MINE}!` })),
    await ask(path),
    await ask("/api/journal?limit=100"),
    await ask("/metrics"),
  ];
  assert.equal(answers[4]?.body["status"], "in_doubt");
  const kept = JSON.stringify([answers, lines]);
  await close();
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const stored = files.map((one) => readFileSync(join(one.parentPath, one.name), "latin1")).join("\n");
  assert.ok(existsSync(join(root, "data")));
  for (const holder of [MINE, OTHERS]) {
    assert.ok(!kept.includes(holder));
    assert.ok(!stored.includes(holder));
  }
  assert.ok(stored.includes(sha256(MINE)));
});
