// The card in a terminal, of a server that is older, and with a key that may not read all of it.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { remoteHoldpoint } from "../../src/cli/remote/remote.ts";
import type { Context, Instance } from "../../src/cli/shell/command.ts";
import { createTerminal } from "../../src/cli/shell/terminal.ts";
import { showApproval } from "../../src/cli/show.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { serverSite } from "../fixtures/server.ts";

type Fields = Record<string, unknown>;

async function shown(hp: Instance, id: string, json = false): Promise<string> {
  const said: string[] = [];
  const terminal = {
    ...createTerminal(process),
    paint: (_: unknown, text: string) => text,
    line: (text = "") => void said.push(text),
    json: (value: unknown) => void said.push(JSON.stringify(value)),
  };
  const context = {
    terminal,
    hp,
    json,
    full: false,
    person: "person:ann",
    now: Date.now(),
    values: new Map(),
  };
  await showApproval({ ...context, words: [], folder: "", hasStore: true } as Context, id);
  return said.join("\n");
}

async function pendingOf(hp: Holdpoint, tool: string): Promise<string> {
  for (let look = 0; look < 400; look++) {
    const { items } = await hp.approvals.list();
    const found = items.find((one) => one.tool === tool);
    if (found !== undefined) return found.id;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("nothing waits");
}

/** The answer of a version that had no document of the card. */
function olderCard({ approval, card }: Fields): object {
  const { sections: _, workflow, rejecting, ...rest } = card as Fields;
  const { attempts: _attempts, children: _children, done = [], ...flow } = (workflow ?? {}) as Fields;
  const { permanent: _permanent, ...back } = (rejecting ?? {}) as Fields;
  const left = (done as readonly Fields[]).map(({ is_since: _since, cannot_undo: _cannot, ...one }) => one);
  return {
    approval,
    card: {
      ...{ ...rest, workflow: workflow === null ? null : { ...flow, done: left } },
      rejecting: rejecting === null ? null : back,
    },
  };
}

async function olderSite(t: TestContext): Promise<{ readonly hp: Holdpoint; readonly far: Instance }> {
  const { bench, hp } = await serverSite(t);
  const client = createClient({ server: bench.url });
  const card = async (id: string) => olderCard((await client.approvals.card(id)) as unknown as Fields);
  const older = { ...client, approvals: { ...client.approvals, card } } as unknown as Client;
  return { hp, far: remoteHoldpoint({ client: older, principal: null }) };
}

test("a checkpoint on a server that is older has its effects, its attempts and what stays done", async (t) => {
  const { hp, far } = await olderSite(t);
  const mail = hp.gate({ name: "mail", policy: "approve", run: (_: object) => "sent" });
  const flow = hp.workflow("trip", { onIrreversible: "continue" }, async (ctx, _: object) => {
    await ctx.call(mail, {});
    await ctx.checkpoint("Plan");
  });
  await flow.start({});
  const text = await shown(far, await pendingOf(hp, "Plan"));
  assert.match(text, /attempt +1 of \d/);
  assert.match(text, /mail \(act_\w+\): applied; it CANNOT be\s+undone/);
  assert.match(text, /! mail \(act_\w+\) stays done/);
  assert.doesNotMatch(text, /undefined|effects +none/);
});

test("an action on a server that is older is shown, in a workflow and without one", async (t) => {
  const { hp, far } = await olderSite(t);
  const pay = hp.gate({ name: "pay", policy: "escalate", run: (_: object) => 1 });
  await pay({}, { requestId: "p", waitMs: 0 });
  assert.match(await shown(far, await pendingOf(hp, "pay")), /Why it is asked/);
  const wire = hp.gate({ name: "wire", policy: "escalate", run: (_: object) => 1 });
  await hp.workflow("trip", async (ctx, _: object) => void (await ctx.call(wire, {}))).start({});
  assert.match(await shown(far, await pendingOf(hp, "wire")), /trip \(wf_\w+\), attempt 1 of \d/);
});

async function narrowSite(t: TestContext): Promise<{ readonly hp: Holdpoint; readonly far: Instance }> {
  const { bench, hp } = await serverSite(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: "person:ann", roles: ["supervisor"], by: "person:root" });
  const scopes = ["approvals:read", "approvals:decide", "actions:read", "policies:read"] as const;
  const offer = { principal: "person:ann", name: "narrow", by: "person:root", scopes };
  const { text: key } = await issueApiKey(runtime, offer);
  const client = createClient({ server: bench.url, credential: { key } });
  return { hp, far: remoteHoldpoint({ client, principal: "person:ann" }) };
}

test("a key that may not read workflows is shown an action without what is around it, and no checkpoint", async (t) => {
  const { hp, far } = await narrowSite(t);
  const pay = hp.gate({ name: "pay", policy: "escalate", run: (_: { n: number }) => 1 });
  await pay({ n: 7 }, { requestId: "p", waitMs: 0 });
  const id = await pendingOf(hp, "pay");
  const text = await shown(far, id);
  assert.match(text, /n: 7/);
  assert.match(text, /are not shown\.\n.*needs the scope workflows:read/);
  assert.match(await shown(far, id, true), /"receipt":null/);
  const flow = hp.workflow("trip", async (ctx, _: object) => void (await ctx.checkpoint("Plan")));
  await flow.start({});
  const plan = await pendingOf(hp, "Plan");
  await assert.rejects(shown(far, plan), /workflows:read/);
});
