/** Opens by the present sources what another program left waiting, and carries all of it on. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Holdpoint, type HoldpointOptions, holdpoint, type Notice } from "../../src/index.ts";
import { readSealPayload } from "../../src/journal/seal.ts";
import { openConfiguredStore } from "../../src/open.ts";
import { serverBench } from "../fixtures/server.ts";
import { type Receiver, startReceiver } from "../messages/receiver.ts";
import {
  ANN,
  carryOnApprovals,
  carryOnEffects,
  carryOnErrands,
  carryOnIdentities,
  carryOnMessages,
  carryOnRunning,
  checkEffects,
  checkEnd,
  type Hands,
} from "./carry-on.ts";
import { carryOnMonitor, carryOnMore, carryOnRequests } from "./carry-on-more.ts";
import { carryOnOutside } from "./carry-on-outside.ts";
import type { Left } from "./left.ts";
import { checkArtifacts, checkLists, checkRebuiltLists } from "./lists.ts";
import { definePresent, RULED } from "./present/definitions.ts";

export type Where = { readonly folder: string } | { readonly database: string };

type Ran = (line: string) => void;

export type Site = {
  readonly root: string;
  readonly keyFile: string;
  readonly log: string;
  readonly receiver: Receiver;
};

export async function site(t: Pick<TestContext, "after">): Promise<Site> {
  const root = mkdtempSync(join(tmpdir(), "holdpoint-upgrade-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const receiver = await startReceiver(t);
  receiver.answer = () => 503;
  return { root, keyFile: join(root, "key.json"), log: join(root, "ran.log"), receiver };
}

async function heard(child: ChildProcess): Promise<Left> {
  let said = "";
  let wrong = "";
  child.stderr?.on("data", (part: Buffer) => {
    wrong += part.toString();
  });
  for await (const part of child.stdout ?? []) {
    said += String(part);
    const line = /^waiting (.*)$/m.exec(said)?.[1];
    if (line !== undefined && said.endsWith("\n")) return JSON.parse(line) as Left;
  }
  throw new Error(`the writer ended: ${said}${wrong}`);
}

/** Runs a writer in a process of its own, which is killed while effects are under way. */
export async function writeAndDie(
  { keyFile, log, receiver }: Pick<Site, "keyFile" | "log"> & { readonly receiver: { readonly url: string } },
  store: Where,
  writer: readonly string[],
): Promise<Left> {
  const options = { store, keyFile, log, receiver: receiver.url, dies: true };
  const child = spawn(process.execPath, [...writer, JSON.stringify(options)], { stdio: "pipe" });
  const gone = once(child, "exit");
  try {
    return await heard(child);
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
}

async function carryOnAll(hands: Hands): Promise<void> {
  await carryOnApprovals(hands);
  await carryOnEffects(hands);
  await carryOnOutside(hands);
  await carryOnErrands(hands);
  await carryOnMessages(hands);
  if (hands.left.more !== undefined) await carryOnMore(hands, hands.left.more);
  await carryOnRunning(hands);
}

/** Everything that waits in the other tenants. */
async function carryOnTenants(
  common: HoldpointOptions,
  { acme, ruled, more }: Left,
  ran: Ran,
): Promise<void> {
  const waiting = [
    { tenant: "acme", approval: acme, seal: more?.seals.acme },
    ...(ruled === undefined
      ? []
      : [{ tenant: "ruled", approval: ruled, seal: more?.seals.ruled, policy: RULED }]),
  ];
  for (const { approval, seal, ...own } of waiting) {
    const hp = holdpoint({ ...common, ...own });
    const { findings } = await hp.journal.verify(seal === undefined ? {} : { savedSeal: seal });
    assert.deepEqual(findings, []);
    const { pay } = definePresent(hp, () => ran(`pay of ${own.tenant}`));
    await hp.approvals.approve(approval, ANN);
    const requestId = `of ${own.tenant}`;
    assert.equal((await pay({ requestId }, { requestId })).status, "done");
    await hp.close();
  }
}

async function carryOnServer({ hp, left }: Hands, { root }: Site, where: Where): Promise<void> {
  const ends: (() => unknown)[] = [];
  const context = { after: (end: () => unknown) => void ends.push(end) };
  const database = "database" in where ? { database: where.database } : {};
  try {
    const bench = await serverBench(context as never, { ...database, folder: root, noAuth: false });
    await carryOnIdentities(bench, left);
    if (left.more !== undefined) await carryOnRequests(bench, hp, left.identities.key, left.more);
  } finally {
    for (const end of ends) await end();
  }
}

/** The lists and the journal as this version finds them, before anything is carried on. */
async function lookFirst(where: Where, hp: Holdpoint, { more }: Left): Promise<void> {
  const store = await openConfiguredStore(where);
  for (const tenant of await store.tenants()) {
    await checkLists(store, tenant);
    await checkArtifacts(store, tenant);
  }
  await store.close();
  const { why, incarnation } = await hp.restored();
  assert.equal(why, null);
  if (more !== undefined) assert.equal(incarnation, readSealPayload(more.seals.default.jws)?.incarnation);
  assert.deepEqual((await hp.journal.verify()).findings, []);
}

export async function carryOn(place: Site, where: Where, left: Left): Promise<void> {
  const { root, keyFile, log, receiver } = place;
  receiver.answer = () => 204;
  const ran = (line: string) => appendFileSync(log, `${line}\n`);
  const notices: Notice[] = [];
  const notify = (notice: Notice) => void notices.push(notice);
  const common = { ...where, keyFile, agent: "writer", notify };
  const hp = holdpoint(common);
  try {
    await lookFirst(where, hp, left);
    if (left.more !== undefined) await carryOnMonitor(hp, left.messages.alert);
    const hands = { hp, tools: definePresent(hp, ran), left, receiver: receiver.url };
    await carryOnAll(hands);
    await carryOnTenants(common, left, ran);
    await carryOnServer(hands, place, where);
    await checkEnd(hands, root, notices);
  } finally {
    await hp.close();
  }
  checkEffects(log, "in place", left);
  const store = await openConfiguredStore(where);
  await checkRebuiltLists(store);
  await store.close();
}
