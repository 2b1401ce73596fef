/**
 * Leaves everything waiting: `node write.ts <options as JSON>`. It imports the sources that it lies beside, so in the tree
 * of another commit it is a program of that commit. It says `waiting` and what it left as a line of JSON, and then keeps
 * effects under way until it is killed.
 */
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { type Holdpoint, holdpoint } from "../../../src/index.ts";
import { openConfiguredStore } from "../../../src/open.ts";
import { until } from "../../fixtures/until.ts";
import type { Left } from "../left.ts";
import { definePresent } from "./definitions.ts";
import { lastSeal, leaveIdentities, leaveMessages, leaveTenants } from "./leave-administration.ts";
import { leaveApprovals, leaveEffects, leaveMoreApprovals } from "./leave-approvals.ts";
import { leaveMorePermits, leaveOutside } from "./leave-outside.ts";
import { leaveErrands, leaveMoreWorkflows } from "./leave-workflows.ts";

export type WriterOptions = {
  readonly store: { readonly folder: string } | { readonly database: string };
  readonly keyFile: string;
  /** Every effect adds a line to it. */
  readonly log: string;
  /** Where messages are to go. */
  readonly receiver: string;
};

// What it writes names no machine.
os.hostname = () => "machine";
syncBuiltinESMExports();

const { store, keyFile, log, receiver } = JSON.parse(process.argv[2] ?? "{}") as WriterOptions;
const ran = (line: string) => appendFileSync(log, `${line}\n`);

/** The program that carries on waits until the lease of this one has lapsed. */
const LEASE_MS = 6_000;

async function open(tenant: string, options: object = {}): Promise<Holdpoint> {
  const own = await openConfiguredStore({ ...store, leaseMs: LEASE_MS });
  return holdpoint({ ...options, store: own, keyFile, tenant, agent: "writer", notify: () => undefined });
}

const hp = await open("default");
const hanging = new Set<string>();
const tools = definePresent(hp, ran, {
  report: () => ({ text: "y".repeat(100_000) }),
  hang(name) {
    ran(name);
    hanging.add(name);
    return new Promise<never>(() => undefined);
  },
});
const leaving = { hp, tools, ran };
const served = "folder" in store ? { data: store.folder } : { database: store.database };

/** Their outcome is unknown: the program is killed first. */
async function leaveRunning(): Promise<void> {
  void tools.hangsSafely({}, { requestId: "hangs.idempotent" });
  void tools.hangs({}, { requestId: "hangs.once" });
  const token = await hp.putSecret("the-secret-token");
  void tools.hangsWithSecret({ token }, { requestId: "hangs.sealed" });
  await until(() => (hanging.size === 3 ? true : undefined), "the tools to hang");
}

async function sealOf(tenant: string) {
  const own = await open(tenant);
  const seal = await lastSeal(own);
  await own.close();
  return seal;
}

const identities = await leaveIdentities(hp, { served, keyFile });
const messages = await leaveMessages(leaving, receiver);
const left: Left = {
  identities: identities.left,
  messages: messages.left,
  approvals: await leaveApprovals(leaving),
  effects: await leaveEffects(leaving),
  outside: await leaveOutside(hp),
  ...(await leaveTenants(hp, open)),
  more: {
    identities: identities.more,
    messages: messages.more,
    approvals: await leaveMoreApprovals(leaving),
    permits: await leaveMorePermits(hp),
    workflows: await leaveMoreWorkflows(leaving),
    seals: {
      default: await lastSeal(hp),
      acme: await sealOf("acme"),
      ruled: await sealOf("ruled"),
    },
  },
  errands: await leaveErrands(leaving),
};
await leaveRunning();
console.log(`waiting ${JSON.stringify({ ...left, at: Date.now() })}`);
setInterval(() => undefined, 60_000);
