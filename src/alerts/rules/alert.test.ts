import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { created, flow, started, suspended, WORKFLOW } from "../../../tests/fixtures/workflow-rules.ts";
import { alertStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { type Fact, fact, given, NOON, type World } from "../../testing/given.ts";
import {
  acknowledgeAlert,
  clearAlert,
  keepMonitorPosition,
  type RaiseAlertCommand,
  raiseAlert,
} from "./alert.ts";
import type { Proof } from "./monitor-rule.ts";

const ref = alertStream("alr_1");
const other = alertStream("alr_2");

const raising = (alert: string, position: number, proof: Proof = null): RaiseAlertCommand => ({
  ...{ alert, monitor: "watch", rule: "busy", kind: "rate", severity: "warning", position },
  signal: { subject: "all", holds: true, workflow: WORKFLOW, figures: { count: 4 }, says: "many", proof },
});
const raise =
  (alert: string, position: number, proof: Proof = null) =>
  (draft: Draft) =>
    raiseAlert(draft, raising(alert, position, proof));
const clear = (position: number) => (draft: Draft) => {
  const { alert: _, ...rest } = raising("", position);
  return clearAlert(draft, rest);
};

const stands = (): World => given([]).when(raise("alr_1", 10)).world;
const over = (): World => given(stands()).when(clear(20)).world;

describe("an alert", () => {
  test("is raised with what it is about", () => {
    given([])
      .when(raise("alr_1", 10))
      .then([
        fact(ref, "alert.raised", {
          monitor: "watch",
          rule: "busy",
          subject: "all",
          position: 10,
          approval: null,
        }),
      ])
      .answers({ kind: "raised" });
  });

  test("that stands is not raised again", () => {
    given(stands()).when(raise("alr_2", 15)).then([]).answers({ kind: "known" });
  });

  test("that the same rules have raised, without hearing of it, is theirs", () => {
    given(stands()).when(raise("alr_1", 10)).then([]).answers({ kind: "raised" });
  });

  test("is cleared once, by an entry after the one that raised it", () => {
    given(stands()).when(clear(9)).then([]).answers({ kind: "known" });
    given(stands())
      .when(clear(20))
      .then([fact(ref, "alert.cleared", { position: 20 })])
      .answers({ kind: "cleared", alert: "alr_1" });
    given(over()).when(clear(21)).then([]).answers({ kind: "known" });
    given([]).when(clear(1)).then([]).answers({ kind: "known" });
  });

  test("that was over is raised again only because of what came later", () => {
    given(over()).when(raise("alr_2", 10)).then([]).answers({ kind: "known" });
    given(over()).when(raise("alr_2", 20)).then([]).answers({ kind: "known" });
    const again = given(over())
      .when(raise("alr_2", 21))
      .then([fact(other, "alert.raised")]);
    given(again.world).when(clear(20)).then([]).answers({ kind: "known" });
    given(again.world).when(clear(30)).answers({ kind: "cleared", alert: "alr_2" });
  });

  test("is acknowledged by the first who says so, also when it is over; it stands as it did", () => {
    const ann = given(stands()).when((draft) =>
      acknowledgeAlert(draft, "alr_1", { by: "person:ann", note: "seen" }),
    );
    ann.then([fact(ref, "alert.acknowledged", { by: "person:ann", note: "seen" })]);
    assert.partialDeepStrictEqual(ann.state(ref), {
      status: "standing",
      acknowledged: { by: "person:ann", at: NOON },
    });
    given(ann.world)
      .when((draft) => acknowledgeAlert(draft, "alr_1", { by: "person:bob", note: null }))
      .then([])
      .answers({ kind: "again", state: { acknowledged: { by: "person:ann" } } });
    given(over())
      .when((draft) => acknowledgeAlert(draft, "alr_1", { by: "person:bob", note: null }))
      .answers({ kind: "acknowledged", state: { status: "cleared" } });
    given([])
      .when((draft) => acknowledgeAlert(draft, "alr_9", { by: "person:bob", note: null }))
      .then([])
      .answers({ kind: "unknown" });
  });
});

describe("an alert about a workflow that is silent or stuck", () => {
  const silent: Proof = { kind: "silent", forMs: 60_000 };
  const since = (ms: number, facts: readonly Fact[]) =>
    given(facts, { now: NOON + ms }).when(raise("alr_1", 10, silent));

  test("is raised when it executes and its last entry is old enough by the store's time", () => {
    since(60_000, [created(), started]).answers({ kind: "raised" });
    since(59_999, [created(), started]).then([]).answers({ kind: "known" });
  });

  test("is not raised of one that sleeps, waits, is over, or does not exist", () => {
    since(60_000, [created(), started, suspended()]).then([]);
    since(60_000, [created()]).then([]);
    since(60_000, [
      created(),
      started,
      fact(flow, "workflow.failed", { code: "error", reason: "", by: "x", report: null }),
    ]).then([]);
    since(60_000, []).then([]);
  });
});

describe("a monitor's place", () => {
  const keep = (position: number) => (draft: Draft) =>
    keepMonitorPosition(draft, "watch", { position, rules: {} });

  test("is kept by the process that has read furthest", () => {
    const first = given([]).when(keep(0)).answers({ kind: "kept" });
    given(first.world).when(keep(0)).then([]).answers({ kind: "behind" });
    const next = given(first.world).when(keep(7)).answers({ kind: "kept" });
    given(next.world).when(keep(5)).then([]).answers({ kind: "behind" });
  });
});
