import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../kernel/errors.ts";
import { agentScope } from "../kernel/stream.ts";
import { decideSwitch, parseSwitchScope, switchFold, switchScopeOf } from "./stream.ts";

const stop = { stop: true, by: "person:ann", reason: "drill" };
const recorded = (type: string, body: object | null = { by: "person:ann", reason: "drill" }, tv = 1) =>
  ({ type, tv, at: 5, seq: 1, body }) as never;
const stopped = switchFold.evolve(switchFold.initial, recorded("switch.stopped"));

describe("a kill switch", () => {
  test("is off until somebody stops, and says who, why and when", () => {
    assert.deepEqual(switchFold.initial, { stopped: false });
    assert.deepEqual(stopped, { stopped: true, by: "person:ann", reason: "drill", at: 5 });
    assert.deepEqual(switchFold.evolve(stopped, recorded("switch.released")), { stopped: false });
  });

  test("stopped twice, or released when it is off, writes nothing", () => {
    assert.deepEqual(decideSwitch(stopped, stop), []);
    assert.deepEqual(decideSwitch(switchFold.initial, { ...stop, stop: false }), []);
    assert.equal(decideSwitch(switchFold.initial, stop)[0]?.type, "switch.stopped");
    assert.equal(decideSwitch(stopped, { ...stop, stop: false })[0]?.type, "switch.released");
  });

  test("of an agent is the same by its bare name and by its principal", () => {
    assert.equal(agentScope("mailer"), agentScope("agent:mailer"));
  });

  test("is named by its scope: of whom it is can be read from that", () => {
    assert.deepEqual(parseSwitchScope(switchScopeOf({})), { what: "tenant" });
    assert.deepEqual(parseSwitchScope(switchScopeOf({ agent: "mailer" })), {
      what: "agent",
      agent: "agent:mailer",
    });
    assert.deepEqual(parseSwitchScope(switchScopeOf({ workflow: "wf_1" })), {
      what: "workflow",
      workflow: "wf_1",
    });
  });

  test("meets an unknown, newer or erased event with an error: it never falls open", () => {
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => switchFold.evolve(stopped, recorded("switch.melted")), unknown);
    assert.throws(() => switchFold.evolve(stopped, recorded("switch.released", {}, 2)), unknown);
    assert.throws(
      () => switchFold.evolve(stopped, recorded("switch.released", null)),
      (error) => isHoldpointError(error, "body_erased"),
    );
  });
});
