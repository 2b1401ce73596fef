import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { cli, linesOf, makePlace, type Place, ROOT } from "./program.ts";

const BIN = join(ROOT, "bin/holdpoint.mjs");

/** Calls a tool twice at 6 USD each, then stops for a person. */
const WORKFLOW = `
import { appendFileSync } from "node:fs";
const usd = (amount) => ({ currency: "USD", micros: BigInt(amount * 1_000_000) });
export default async (hp) => {
  await hp.budgets.limit("all", usd(1_000));
  const buy = hp.gate({
    name: "buy",
    policy: "approve",
    cost: () => ({ budget: "all", amount: usd(6) }),
    run: ({ item }) => appendFileSync("bought.log", item + "\\n"),
  });
  const tell = hp.gate({ name: "tell", policy: "approve", run: () => "told" });
  return hp.workflow("shopping", async (ctx, input) => {
    for (const item of input.items ?? []) {
      const answer = await ctx.call(buy, { item });
      if (answer.status !== "done") throw new Error(answer.code);
    }
    await ctx.call(tell, {});
    if (input.look) await ctx.checkpoint("Look at it", { outputs: { bought: input.items } });
    return { bought: input.items ?? [] };
  });
};
`;

type Started = {
  /** Answers once standard error matches. */
  until(sign: RegExp): Promise<RegExpExecArray>;
  interrupt(): void;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
};

function start(place: Place, ...args: readonly string[]): Started {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: place.folder,
    env: place.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const text = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text.out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text.err += chunk;
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  return {
    interrupt: () => void child.kill("SIGINT"),
    ended: ended.then((code) => ({ code, ...text })),
    until: (sign) =>
      new Promise((done, fail) => {
        const look = () => {
          const match = sign.exec(text.err);
          if (match !== null) done(match);
        };
        child.stderr.on("data", look);
        look();
        void ended.then((code) => fail(new Error(`it ended with ${code}:\n${text.err}`)));
      }),
  };
}

const APPROVE = /approve (apr_[0-9A-Z]{26})/;

describe("holdpoint run", () => {
  let place = makePlace();
  before(() => writeFileSync(join(place.folder, "flow.ts"), WORKFLOW));
  after(() => place.remove());
  const fresh = (): Place => {
    place.remove();
    place = makePlace();
    writeFileSync(join(place.folder, "flow.ts"), WORKFLOW);
    return place;
  };

  test("tells what happens on standard error, and the result on standard output", () => {
    const here = fresh();
    const ran = cli(here, "run", "flow.ts", "--input", '{"items": ["milk"]}');
    assert.equal(ran.code, 0, ran.err);
    assert.deepEqual(JSON.parse(ran.out), { bought: ["milk"] });
    assert.match(ran.err, /buy +done, receipt eff_/);
    assert.match(ran.err, /COMPLETED wf_/);
    assert.deepEqual(linesOf(here, "bought.log"), ["milk"]);
  });

  test("Ctrl-C leaves it where it is; the same request id goes on, and nothing is done twice", async () => {
    const here = fresh();
    const args = ["run", "flow.ts", "--request-id", "r 1", "--input", '{"items":["tea"],"look":true}'];
    const first = start(here, ...args);
    const [, approval = ""] = await first.until(APPROVE);
    first.interrupt();
    const left = await first.ended;
    assert.equal(left.code, 130);
    assert.match(left.err, /npx holdpoint run flow\.ts --request-id 'r 1' --input '\{"items"/);
    const second = start(here, ...args);
    assert.equal((await second.until(APPROVE))[1], approval);
    assert.equal(cli(here, "approve", approval).code, 0);
    const done = await second.ended;
    assert.equal(done.code, 0, done.err);
    assert.match(done.err, /approved +Look at it, by person:/);
    assert.deepEqual(linesOf(here, "bought.log"), ["tea"]);
    const third = cli(here, ...args, "--json");
    assert.equal((JSON.parse(third.out) as { status: string }).status, "completed");
  });

  test("a budget stops the call that would go over it, and says what is not counted", () => {
    const here = fresh();
    const input = '{"items": ["one", "two"]}';
    const ran = cli(here, "run", "flow.ts", "--budget", "10.00", "--input", input, "--request-id", "b");
    assert.equal(ran.code, 1);
    assert.match(ran.err, /not counted +tell/);
    assert.match(ran.err, /spent +6\.00 USD of 10\.00 USD/);
    assert.match(ran.err, /FAILED wf_\w+: over_budget/);
    assert.deepEqual(linesOf(here, "bought.log"), ["one"]);
    const enough = cli(here, "run", "flow.ts", "--budget", "12", "--input", input);
    assert.equal(enough.code, 0, enough.err);
  });

  test("--require-approval asks about every call, for as long as the workflow lives", async () => {
    const here = fresh();
    const args = ["run", "flow.ts", "--request-id", "a", "--input", '{"items":["tea"]}'];
    const first = start(here, ...args, "--require-approval");
    const [, approval = ""] = await first.until(APPROVE);
    first.interrupt();
    await first.ended;
    assert.deepEqual(linesOf(here, "bought.log"), []);
    assert.equal(cli(here, "approve", approval).code, 0);
    const second = start(here, ...args);
    const [, next = ""] = await second.until(/person: tell[\s\S]*approve (apr_[0-9A-Z]{26})/);
    assert.notEqual(next, approval);
    assert.equal(cli(here, "approve", next).code, 0);
    assert.equal((await second.ended).code, 0);
    assert.deepEqual(linesOf(here, "bought.log"), ["tea"]);
  });

  test("a definition that was changed meanwhile ends the run with the difference, not the workflow", async () => {
    const here = fresh();
    const args = ["run", "flow.ts", "--request-id", "c", "--input", '{"items":["tea"],"look":true}'];
    const first = start(here, ...args);
    const [, approval = ""] = await first.until(APPROVE);
    first.interrupt();
    await first.ended;
    assert.equal(cli(here, "approve", approval).code, 0);
    writeFileSync(
      join(here.folder, "flow.ts"),
      WORKFLOW.replace("ctx.call(buy, { item })", "ctx.call(tell, {})"),
    );
    const changed = cli(here, ...args);
    assert.equal(changed.code, 1, changed.err);
    assert.match(changed.err, /changed/);
    assert.match(changed.err, /goes on with/);
  });

  test("flags that would change a workflow that was started without them are misuse", () => {
    const here = fresh();
    const args = ["run", "flow.ts", "--request-id", "d"];
    assert.equal(cli(here, ...args).code, 0);
    assert.equal(cli(here, ...args, "--budget", "1").code, 2);
    assert.equal(cli(here, ...args, "--require-approval").code, 2);
    assert.equal(cli(here, ...args, "--input", '{"items":[]}').code, 1, "another input under the same id");
  });

  test("misuse answers 2 and says what to do", () => {
    const here = fresh();
    writeFileSync(join(here.folder, "none.ts"), "export const a = 1;");
    writeFileSync(join(here.folder, "other.ts"), "export default () => 1;");
    writeFileSync(join(here.folder, "broken.ts"), "export default (;");
    const lines: readonly (readonly string[])[] = [
      [],
      ["missing.ts"],
      ["none.ts"],
      ["other.ts"],
      ["broken.ts"],
      ["flow.ts", "--budget", "much"],
      ["flow.ts", "--input", "{"],
      ["flow.ts", "--request-id="],
    ];
    for (const line of lines) {
      const ran = cli(here, "run", ...line);
      assert.equal(ran.code, 2, `${line.join(" ")}: ${ran.err}`);
      assert.match(ran.err, /^holdpoint: /);
    }
  });

  test("without a file it runs what holdpoint.json names, from any folder below it", () => {
    const here = fresh();
    writeFileSync(join(here.folder, "holdpoint.json"), '{ "workflow": "flow.ts" }');
    const below = join(here.folder, "below");
    mkdirSync(below);
    assert.equal(cli({ ...here, folder: below }, "run").code, 0);
    assert.match(cli(here, "workflows").out, /shopping/, "its store is the project's");
    writeFileSync(join(here.folder, "holdpoint.json"), "{}");
    assert.equal(cli(here, "run").code, 2);
  });
});
