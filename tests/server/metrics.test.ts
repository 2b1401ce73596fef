// What a tenant counts is no other tenant's to see.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, type MetricScope } from "../../src/api/metrics/metrics.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";

import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";

async function rootOf(bench: Bench, tenant: string) {
  const { runtime } = await bench.server.office(tenant);
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "root", by });
  return { authorization: `Bearer ${text}` };
}

async function seen(bench: Bench, headers: Record<string, string>, figure: RegExp): Promise<string> {
  for (let look = 0; look < 400; look++) {
    const { text, status } = await bench.ask("/metrics", { headers });
    assert.equal(status, 200, text);
    if (figure.test(text)) return text;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail(`${figure} does not come`);
}

/** One question to people, at a checkpoint. */
async function askPeople(bench: Bench, headers: Record<string, string>): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await bench.ask(path, { method: "POST", headers, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const checkpoints = [{ name: "look", checkpoint_id: "look" }];
  const { workflow_id: id } = await post("/api/workflows", { name: "flow", checkpoints });
  await post(`/api/workflows/${String(id)}/start`, {});
  await post(`/api/workflows/${String(id)}/checkpoints`, { checkpoint_id: "look" });
}

test("a credential of one tenant gets that tenant's figures and the process's, none of another's", async (t) => {
  const bench = await serverBench(t, { noAuth: false, rate: 10_000, burst: 10_000 });
  const own = await rootOf(bench, "acme");
  const other = await rootOf(bench, "globex");
  await askPeople(bench, other);
  const theirs = await seen(bench, other, /holdpoint_checkpoints_total\{outcome="reached"\} 1/);
  assert.match(theirs, /^holdpoint_approvals_pending 1$/m);
  const { text } = await bench.ask("/metrics", { headers: own });
  assert.match(text, /^holdpoint_approvals_pending 0$/m);
  assert.doesNotMatch(text, /holdpoint_checkpoints_total\{/);
  for (const figures of [text, theirs]) {
    assert.match(figures, /^holdpoint_http_request_duration_seconds_count\{/m);
    assert.match(figures, /^holdpoint_event_listeners 0$/m);
  }
});

test("all tenants together are the sum of each", async () => {
  const figure = async (whose: MetricScope) => (whose === "all" ? 5 : 2);
  const inHand = async (whose: MetricScope) => ({
    workflows: await figure(whose),
    effects: 0,
    epochs: whose === "all" ? ["epo_1", "epo_2"] : ["epo_1"],
    leaseLeftMs: 1_500,
  });
  const node = { kind: "worker", version: "1.2.3", inHand };
  const standing = { inDoubt: figure, pending: figure, listeners: () => 0, holds: () => 0, node };
  const metrics = createMetrics(standing);
  metrics.of("acme").action("applied");
  metrics.of("globex").action("applied");
  const all = await metrics.text("all");
  assert.match(all, /^holdpoint_actions_total\{outcome="applied"\} 2$/m);
  assert.match(all, /^holdpoint_effects_in_doubt 5$/m);
  const one = await metrics.text({ tenant: "acme" });
  assert.match(one, /^holdpoint_actions_total\{outcome="applied"\} 1$/m);
  assert.match(one, /^holdpoint_effects_in_doubt 2$/m);
  assert.equal(one.match(/^# HELP holdpoint_actions_total /gm)?.length, 1);
  assert.match(all, /^holdpoint_node_workflows_running 5$/m);
  assert.match(one, /^holdpoint_node_workflows_running 2$/m);
  assert.equal(all.match(/^holdpoint_node_epoch_info\{epoch="epo_\d"\} 1$/gm)?.length, 2);
  assert.equal(one.match(/^holdpoint_node_epoch_info\{/gm)?.length, 1);
  for (const text of [all, one]) {
    assert.match(text, /^holdpoint_node_lease_seconds 1\.5$/m);
    assert.match(text, /^holdpoint_node_info\{kind="worker",version="1\.2\.3"\} 1$/m);
  }
});

test("a node counts what it has in hand itself, and what it says of the journal says that it is of all nodes", async (t) => {
  const held = Promise.withResolvers<void>();
  const bench = await serverBench(t, {
    define(hp) {
      const slow = hp.gate({ name: "slow", policy: "approve", run: () => held.promise });
      const flow = hp.workflow("errand", async (ctx) => (await ctx.call(slow, {})).status);
      flow.start({}).catch(() => undefined);
    },
  });
  const text = await seen(bench, {}, /^holdpoint_node_effects_running 1$/m);
  assert.match(text, /^holdpoint_node_workflows_running 1$/m);
  assert.match(text, /^holdpoint_node_info\{kind="server",version="9\.9\.9"\} 1$/m);
  assert.match(text, /^holdpoint_node_epoch_info\{epoch="epo_\w{26}"\} 1$/m);
  for (const statistic of ["mean", "p99", "max"])
    assert.match(
      text,
      new RegExp(`^holdpoint_node_event_loop_lag_seconds\\{statistic="${statistic}"\\} [\\d.e-]+$`, "m"),
    );
  // A lock on a file does not lapse: there is nothing to be alarmed by.
  assert.doesNotMatch(text, /^holdpoint_node_lease_seconds /m);
  const said = [...text.matchAll(/^# HELP (holdpoint_\w+) (.*)$/gm)].map(([, name = "", help = ""]) => [
    name,
    help,
  ]);
  const ofAll = said.filter(([, help]) =>
    help?.endsWith("(of all nodes: take the max over servers, not the sum)"),
  );
  assert.deepEqual(ofAll.map(([name]) => name).toSorted(), [
    ...["holdpoint_actions_total", "holdpoint_approval_latency_seconds", "holdpoint_approvals_pending"],
    ...["holdpoint_checkpoints_total", "holdpoint_effects_in_doubt"],
  ]);
  held.resolve();
  await seen(bench, {}, /^holdpoint_node_effects_running 0$/m);
});
