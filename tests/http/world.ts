/** One of everything in a tenant, each with a word in it that must not be seen elsewhere. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, holdpoint } from "../../src/index.ts";
import { instanceDefinitions } from "../../src/open.ts";
import { logIn } from "../../src/people/sessions/sessions.ts";
import { beginTrial, getTrial } from "../../src/policy/backtest/run.ts";

/** In names, arguments and reasons of everything that is made here. */
export const CANARY = "heron-7f3a";

/** A policy that can be tried. */
const TEXT = "policy: tried\ndefault: approve";

const by = "person:root";
const WORD = { by, reason: CANARY };
const FAR = "agent:far";

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it does not come");
}

/** Declared for every tenant; only one is furnished. */
export function define(hp: Holdpoint) {
  const pay = hp.gate({
    name: "pay",
    policy: { verdict: "escalate", decideWithinMs: 3_600_000 },
    run: () => CANARY,
  });
  const done = hp.gate({ name: "done", policy: "approve", run: () => CANARY });
  const lost = hp.gate({
    name: "lost",
    policy: "approve",
    run: () => {
      throw new Error(CANARY);
    },
  });
  hp.remote.tool({ name: "ship", policy: "approve" });
  hp.remote.tool({ name: "label", policy: "approve", effect: "idempotent" });
  const flow = hp.workflow("flow", async (ctx) => ctx.checkpoint("look", { outputs: { word: CANARY } }));
  return { pay, done, lost, flow };
}

type Declared = ReturnType<typeof define>;

async function actionsOf(hp: Holdpoint, { pay, done, lost }: Declared) {
  await done({ word: CANARY }, { requestId: `${CANARY}-done` });
  await lost({ word: CANARY }, { requestId: `${CANARY}-lost` }).catch(() => undefined);
  await pay({ word: CANARY }, { requestId: `${CANARY}-pay`, waitMs: 0 }).catch(() => undefined);
  const { id: action } = await hp.actions.get(`${CANARY}-done`);
  const doubt = await hp.actions.get(`${CANARY}-lost`);
  assert.equal(doubt.phase, "in_doubt");
  assert.ok(doubt.effect !== null);
  const waiting = await hp.actions.get(`${CANARY}-pay`);
  assert.equal(waiting.phase, "waiting");
  const { approval } = waiting;
  assert.ok(approval !== null);
  await hp.approvals.comment(approval, { by, text: CANARY });
  const { binding } = await hp.approvals.get(approval);
  return { action, effect: doubt.effect.id, approval, binding };
}

/** Of the permit. */
export const HOLDER = "0123456789abcdefghijkl";

/** Under way from outside, with a permit that was not reported on. */
async function outsideOf(hp: Holdpoint) {
  const driven = await hp.remote.workflows.create({ name: CANARY, executor: FAR, by });
  await hp.remote.workflows.start(driven, { agent: FAR });
  const permit = await hp.remote.propose({
    ...{ tool: "ship", args: { word: CANARY }, agent: FAR, requestId: `${CANARY}-ship` },
    holder: HOLDER,
  });
  // Begun, and handed out a second time, which its class allows.
  const label = { tool: "label", args: {}, agent: FAR, requestId: `${CANARY}-label`, holder: HOLDER };
  const { action } = await hp.remote.propose(label);
  for (const _ of [1, 2]) await hp.remote.begin(action, { agent: FAR, holder: HOLDER });
  return { driven, permitted: permit.action };
}

/** Put in force by a program of this tenant alone. */
async function policyOf(folder: string, tenant: string): Promise<string> {
  const policy = { policy: CANARY, default: "escalate" as const, rules: [] };
  const program = holdpoint({
    ...{ folder: join(folder, "data"), tenant, policy, keyFile: join(folder, "key.json") },
    notify: () => undefined,
  });
  program.gate({ name: "other", policy: "approve", run: () => null });
  await until(async () => ((await admin(program).policies.list()).length > 0 ? true : undefined));
  await program.close();
  return CANARY;
}

async function alertOf(hp: Holdpoint): Promise<string> {
  const rule = { kind: "rate", name: CANARY, of: "calls", windowMs: 3_600_000, above: 0 } as const;
  await admin(hp).monitor({ name: CANARY, rules: [rule] });
  await hp.gate({ name: "seen", policy: "approve", run: () => null })({});
  return until(async () => (await admin(hp).alerts.list({})).items[0]?.id);
}

/** Told of what happens; nobody is there. */
async function outboxOf(hp: Holdpoint): Promise<string> {
  const { id } = await admin(hp).endpoints.add({ url: `https://${CANARY}.invalid/`, name: CANARY, by });
  return id;
}

async function trialOf(hp: Holdpoint): Promise<string> {
  const { runtime } = (await instanceDefinitions.get(hp)?.open()) ?? assert.fail();
  const { id } = await beginTrial(runtime, { text: TEXT });
  return until(async () => (getTrial(runtime, id).state === "done" ? id : undefined));
}

async function sessionOf(hp: Holdpoint): Promise<string> {
  const { link: text } = await admin(hp).people.loginLink(by, { by });
  const { runtime } = (await instanceDefinitions.get(hp)?.open()) ?? assert.fail();
  const begun = await logIn(runtime, text);
  return "session" in begun ? begun.session : assert.fail(begun.refused);
}

export type World = Awaited<ReturnType<typeof furnish>>;
export type Site = { readonly folder: string; readonly tenant: string };

export async function furnish(hp: Holdpoint, declared: Declared, { folder, tenant }: Site) {
  await admin(hp).people.add({ person: by, roles: ["admin", "supervisor", "verifier"], by });
  await admin(hp).people.add({ person: `person:${CANARY}`, roles: ["auditor"], by });
  await hp.budgets.limit(CANARY, { currency: "USD", micros: 1_000_000n });
  const { key } = await admin(hp).keys.issue({
    principal: "agent:kept",
    name: CANARY,
    roles: ["executor"],
    by,
  });
  const grant = await hp.grants.give({ tool: "done", uses: 1, forMs: 3_600_000, ...WORD });
  const intent = await hp.intents.send({
    intentType: "task",
    toAgent: "agent://doer",
    payload: { word: CANARY },
  });
  const endpoint = await outboxOf(hp);
  const { id: workflow } = await declared.flow.start(undefined as never);
  await until(async () =>
    (await hp.workflows.get(workflow)).status === "awaiting_approval" ? true : undefined,
  );
  return {
    ...(await actionsOf(hp, declared)),
    ...(await outsideOf(hp)),
    policy: await policyOf(folder, tenant),
    alert: await alertOf(hp),
    grant: grant.id,
    key: key.id,
    intent: intent.id,
    workflow,
    person: `person:${CANARY}`,
    budget: CANARY,
    endpoint,
    message: await until(async () => (await admin(hp).messages.list({})).items[0]?.id),
    session: await sessionOf(hp),
    trial: await trialOf(hp),
    text: TEXT,
  };
}
