// holdpoint monitor: rules from a file, beside the programs.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { createLines } from "../fixtures/lines.ts";
import { errorOf, linesOf, runCli, start } from "./bench.ts";

const RULES = `monitor: night watch
rules:
  - { kind: rate, name: many, of: calls, per: tool, window: 1h, above: 2, severity: critical }
  - { kind: resources, name: long, operations: 1, raise: checkpoint }
`;

type Desk = Folder & { write(name: string, text: string): string };

function desk(context: TestContext): Desk {
  const folder = temporaryFolder(context);
  const write = (name: string, text: string) => {
    const file = join(dirname(folder.path), name);
    writeFileSync(file, text);
    return file;
  };
  return { ...folder, write };
}

/** A monitor in a process of its own, once it watches. */
async function watching(context: TestContext, place: Desk, file: string, ...flags: readonly string[]) {
  const child = start(place, ["monitor", file, ...flags]);
  context.after(() => child.kill("SIGKILL"));
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  let err = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    if (err.includes("Ctrl-C ends it")) resolve();
  });
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  void ended.then(() => reject(new Error(`It ended: ${err}`)));
  const heard = createLines(child);
  await started;
  const stop = async (signal: "SIGINT" | "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  return { heard, stop, said: () => err };
}

async function calls(hp: Holdpoint, from: number, count: number): Promise<void> {
  const ping = hp.gate({ name: `ping${from}`, policy: "approve", effect: "read", run: () => 1 });
  for (let n = from; n < from + count; n++) await ping({}, { requestId: `p${n}` });
}

describe("holdpoint monitor", () => {
  test("watches what other programs do, tells what it raises, and goes on where it was ended", async (context) => {
    const place = desk(context);
    const hp = place.open();
    await admin(hp).seals.create();
    const file = place.write("night.yaml", RULES);
    const first = await watching(context, place, file);
    assert.match(first.said(), /^Watching .* as night watch, by 2 rules\.\n/);
    await calls(hp, 100, 3);
    const [at = "", what, severity, alert = "", ...rest] = (await first.heard()).split("\t");
    assert.ok(!Number.isNaN(Date.parse(at)));
    assert.deepEqual([what, severity], ["raised", "critical"]);
    assert.deepEqual(rest, ["night watch", "many", "tool:ping100", "more than 2 calls within 1 h", "-"]);
    assert.equal(await first.stop("SIGINT"), 0);
    await calls(hp, 200, 3);
    const second = await watching(context, place, file, "--json");
    const told = JSON.parse(await second.heard()) as Record<string, unknown>;
    assert.partialDeepStrictEqual(told, { kind: "alert", subject: "tool:ping200", severity: "critical" });
    assert.equal(await second.stop("SIGTERM"), 0);
    const listed = linesOf((await runCli(place, ["alerts"])).out).map((line) => line.split("\t")[0]);
    assert.deepEqual(listed.toSorted(), [alert, told["alert"]].toSorted(), "what was said is not said again");
    await hp.close();
  });

  test("stops a workflow of another program, which goes on when a person says so", async (context) => {
    const place = desk(context);
    const hp = place.open();
    const flow = hp.workflow("letters", async (ctx, _: object) => {
      for (const n of [1, 2, 3]) {
        await ctx.step(`write ${n}`, () => n);
        await ctx.sleep(500);
      }
      return "written";
    });
    await admin(hp).seals.create();
    const { heard, stop } = await watching(context, place, place.write("night.yaml", RULES));
    const run = await flow.start({});
    const approval = (await heard()).split("\t").at(-1) ?? "";
    assert.match(approval, /^apr_/);
    const ran = await runCli(place, ["approve", approval]);
    assert.equal(ran.code, 0, ran.err);
    const end = await run.result();
    assert.equal(end.status === "completed" && end.result, "written");
    assert.equal(await stop("SIGINT"), 0);
    await hp.close();
  });

  test("takes several from a module, whose rules may be functions", async (context) => {
    const place = desk(context);
    const hp = place.open();
    await admin(hp).seals.create();
    const file = place.write(
      "watch.mjs",
      `const rule = { kind: "when", name: "any", per: "tool", condition: ({ type }) => type === "action.proposed" || undefined };
       export default ["one", "two"].map((name) => ({ name, rules: [rule] }));\n`,
    );
    const { heard, stop, said } = await watching(context, place, file, "--json");
    assert.match(said(), /as one, by 1 rule\.\nWatching .* as two, by 1 rule\./);
    await calls(hp, 1, 1);
    const names = [await heard(), await heard()].map(
      (line) => (JSON.parse(line) as { monitor: string }).monitor,
    );
    assert.deepEqual(names.toSorted(), ["one", "two"]);
    assert.equal(await stop("SIGINT"), 0);
    await hp.close();
  });

  test("refuses what is no monitor before it watches anything", async (context) => {
    const place = desk(context);
    const lines = [
      ["bad.yaml", RULES.replace("window", "windw"), 1, /bad\.yaml:3:\d+ {2}windw is not a key here/],
      ["bad.mjs", "export const rules = [];\n", 2, /exports no monitor/],
      [
        "odd.mjs",
        'export default { name: "x", rules: [{ kind: "rate" }] };\n',
        2,
        /Rule 1 \(rate\) has a name/,
      ],
      ["broken.mjs", "throw new Error('no');\n", 2, /cannot be loaded: no/],
    ] as const;
    const none = await runCli(place, ["monitor", place.write("night.yaml", RULES), "--json"]);
    assert.deepEqual([none.code, errorOf(none)["code"]], [3, "no_store"]);
    await admin(place.open()).seals.create();
    const rans = await Promise.all(
      lines.map(([name, text]) => runCli(place, ["monitor", place.write(name, text)])),
    );
    for (const [at, { code, err, out }] of rans.entries()) {
      assert.deepEqual([code, out], [lines[at]?.[2], ""], err);
      assert.match(err, lines[at]?.[3] ?? /^$/);
    }
    const absent = await runCli(place, ["monitor", "nowhere.yaml"]);
    assert.match(absent.err, /There is no file nowhere\.yaml/);
  });
});
