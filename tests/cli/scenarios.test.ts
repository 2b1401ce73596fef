// A scenario file from a terminal: agents with keys, people, and the intent that starts it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";

const SCENARIO = {
  name: "deployment",
  agents: [{ name: "openai-agent-demo" }],
  approvers: [{ name: "ann" }],
  intent: {
    intent_type: "task",
    to_agent: "agent://openai-agent-demo",
    payload: { task: "Deploy" },
    request_id: "start",
  },
};

test("a scenario is applied once however often it is: one key, one person, one intent; a wrong one makes nothing", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  await hp.intents.list();
  const root = dirname(folder.path);
  const file = join(root, "scenario.json");
  const env = { XDG_CONFIG_HOME: root, HOME: root, APPDATA: root };
  writeFileSync(file, JSON.stringify({ ...SCENARIO, agents: [{ roles: ["king"] }], more: 1 }));
  const wrong = await runCli(folder, ["scenarios", "apply", file], { env });
  assert.notEqual(wrong.code, 0);
  for (const part of [/no field "more"/, /agents\[0\]\.name/, /king/]) assert.match(wrong.err, part);
  assert.deepEqual(await admin(hp).people.list(), []);

  writeFileSync(file, JSON.stringify(SCENARIO));
  const applied = await runCli(folder, ["scenarios", "apply", file], { env });
  assert.equal(applied.code, 0, applied.err);
  const id = /^intent_id: (int_\w+)$/m.exec(applied.out)?.[1] ?? "";
  const keysFile = /^Keys are in (.+\.json);/m.exec(applied.out)?.[1] ?? "";
  const keys = JSON.parse(readFileSync(keysFile, "utf8")) as Record<
    string,
    { api_key: string; key_id: string }
  >;
  assert.match(keys["openai-agent-demo"]?.api_key ?? "", /^hpk_/);
  assert.ok(!applied.out.includes(keys["openai-agent-demo"]?.api_key ?? "-"));
  assert.partialDeepStrictEqual(await admin(hp).keys.get(keys["openai-agent-demo"]?.key_id ?? ""), {
    principal: "agent:openai-agent-demo",
    roles: ["executor"],
  });
  assert.partialDeepStrictEqual(await admin(hp).people.get("person:ann"), { roles: ["supervisor"] });

  const again = await runCli(folder, ["scenarios", "apply", file], { env });
  assert.match(again.out, new RegExp(`intent_id: ${id}`));
  assert.deepEqual(JSON.parse(readFileSync(keysFile, "utf8")), keys);
  assert.equal((await admin(hp).keys.list()).items.length, 1);
});
