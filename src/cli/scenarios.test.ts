import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readScenario, readScenarioKeys, scenarioKeysFile } from "./scenarios.ts";
import { writePrivateJson } from "./shell/files.ts";

describe("a scenario file", () => {
  test("has agents, approvers and an intent, with the usual roles where none are given", () => {
    assert.deepEqual(
      readScenario({
        name: "deployment",
        agents: [{ name: "demo" }],
        approvers: [{ name: "ann", mail: "ann@example.org" }],
        intent: { intent_type: "task", to_agent: "agent://demo", payload: { n: 1 }, timeout_seconds: 60 },
      }),
      {
        name: "deployment",
        agents: [{ name: "demo", roles: ["executor"] }],
        approvers: [{ name: "ann", roles: ["supervisor"], groups: [], mail: "ann@example.org" }],
        intent: { intentType: "task", toAgent: "agent://demo", payload: { n: 1 }, withinMs: 60_000 },
      },
    );
  });

  test("with several faults is told all of them at once", () => {
    const read = readScenario({
      agents: [{ name: "a b\n", roles: ["king"] }, { name: "x" }, { name: "x" }],
      approvers: {},
      intent: { to_agent: "", timeout_seconds: 0.5, colour: "red" },
      extra: 1,
    });
    const faults = "faults" in read ? read.faults.join("\n") : assert.fail();
    for (const part of [
      'no field "extra"',
      "name is a text",
      "agents[0].name is not a name",
      "king",
      'agents has "x" twice',
      "approvers is a list",
      "intent.intent_type is a text",
      "intent.to_agent is a text",
      "timeout_seconds",
      'no field "colour"',
    ])
      assert.ok(faults.includes(part), `${part} in\n${faults}`);
    assert.ok("faults" in readScenario([]));
  });

  test("names the same agent twice if one of the two has its kind before the name", () => {
    const agents = [{ name: "a" }, { name: "agent:a", roles: ["admin"] }];
    const read = readScenario({ agents, approvers: [{ name: "ann" }] } as never);
    assert.ok("faults" in read && read.faults.includes('agents has "a" twice'), JSON.stringify(read));
  });

  test("keys are kept where the platform keeps such things, for nobody else to read", (t) => {
    const around = (platform: string, variables: Record<string, string> = {}) =>
      scenarioKeysFile({ platform, home: "/h", environment: (name) => variables[name] });
    assert.equal(around("linux"), "/h/.config/holdpoint/scenario-agents.json");
    assert.equal(around("linux", { XDG_CONFIG_HOME: "/x" }), "/x/holdpoint/scenario-agents.json");
    assert.equal(around("darwin"), "/h/Library/Application Support/holdpoint/scenario-agents.json");
    assert.equal(around("win32", { APPDATA: "/a" }), "/a/holdpoint/scenario-agents.json");
    const root = mkdtempSync(join(tmpdir(), "holdpoint-scenario-"));
    t.after(() => rmSync(root, { recursive: true }));
    const file = join(root, "deep", "keys.json");
    assert.deepEqual(readScenarioKeys(file), {});
    writePrivateJson(file, { demo: { api_key: "k" } });
    assert.deepEqual(readScenarioKeys(file), { demo: { api_key: "k" } });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(readFileSync(file, "utf8").endsWith("\n"));
  });
});
