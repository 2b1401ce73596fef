/** The program whose power is cut: the real engine on a given store, under a clock and a chance that a seed repeats. */

import { createHash } from "node:crypto";
import type { Approvals } from "../../src/approvals/contract.ts";
import { approvalsOf } from "../../src/approvals/verbs.ts";
import { budgetVerbs } from "../../src/budgets/verbs.ts";
import { putSecret } from "../../src/effects/arguments.ts";
import type { ToolDefinition } from "../../src/effects/define-tool.ts";
import { type GatedTool, gate } from "../../src/effects/gate.ts";
import { NotApplied } from "../../src/effects/run-tool.ts";
import type { Tool } from "../../src/effects/tool.ts";
import { actionVerbs } from "../../src/effects/verbs.ts";
import type { Holdpoint } from "../../src/index.ts";
import { signingKeyFromPkcs8 } from "../../src/journal/jws.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { KillSwitch } from "../../src/kill-switch/contract.ts";
import { bindKillSwitch } from "../../src/kill-switch/verbs.ts";
import { MAINTENANCE_INTERVALS } from "../../src/runtime/maintenance.ts";
import { type OpenRuntime, openRuntime } from "../../src/runtime/open.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import { type Journal, journalOf, type Seals, sealMethods } from "../../src/runtime/verbs.ts";
import type { Store } from "../../src/stores/store.ts";

export const TENANT = "acme";
export const LEDGER = "CREATE TABLE IF NOT EXISTS app_ledger (request TEXT PRIMARY KEY, n INTEGER NOT NULL)";
const AGENT = "agent:payer";

/** The same key in every run: an Ed25519 seed in the wrapping of PKCS #8. */
const SEED = Buffer.from(`302e020100300506032b657004220420${"2a".repeat(32)}`, "hex");
const PEM = `-----BEGIN PRIVATE KEY-----\n${SEED.toString("base64")}\n-----END PRIVATE KEY-----\n`;
const SIGNING = signingKeyFromPkcs8(PEM);

export type Args = { readonly n: number; readonly size: number };
export const TOOLS = [
  "pay",
  "ask",
  "ask_two",
  "big",
  "capped",
  "look",
  "blocked",
  "fails",
  "breaks",
  "ledger",
] as const;
export type ToolName = (typeof TOOLS)[number];

export type Program = {
  readonly store: Store;
  readonly runtime: OpenRuntime;
  readonly tools: Readonly<Record<ToolName, GatedTool<Args, unknown>>>;
  /** How often a tool's function ran. */
  readonly ran: { times: number };
  readonly approvals: Approvals;
  readonly actions: Holdpoint["actions"];
  readonly journal: Journal;
  readonly seals: Seals;
  readonly budgets: Holdpoint["budgets"];
  readonly killSwitch: KillSwitch;
  putSecret(value: string): ReturnType<typeof putSecret>;
  close(): Promise<void>;
};

export type ProgramOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
};

export function startProgram({ store, clock, random }: ProgramOptions): Program {
  const declared = new Map<string, Tool>();
  const runtime = openRuntime({
    store,
    tenant: TENANT,
    agent: AGENT,
    requester: [AGENT],
    clock,
    idle: clock,
    random,
    tools: declared,
    environment: () => undefined,
    keyring: () => ({ signing: SIGNING, secrets: new Uint8Array(32).fill(7) }),
    notify: () => undefined,
    reach: () => undefined,
    process: "test/1",
    rhythm: MAINTENANCE_INTERVALS,
    seals: true,
  });
  const open = async () => runtime;
  const ran = { times: 0 };
  const gates = { tools: declared, warned: new Set<string>(), open };
  const gated = definitions(ran).map((tool) => [tool.name, gate(gates, tool)]);
  return {
    store,
    runtime,
    tools: Object.fromEntries(gated) as Program["tools"],
    ran,
    approvals: approvalsOf(open),
    actions: bindLibrary(open, actionVerbs),
    journal: journalOf(open),
    seals: sealMethods(open),
    budgets: bindLibrary(open, budgetVerbs),
    killSwitch: bindKillSwitch(open),
    putSecret: (value) => putSecret(open, value),
    close: () => runtime.close(),
  };
}

/** Text of a length that no packing makes shorter than half. */
export function textOf({ n, size }: Args): string {
  const parts: string[] = [];
  for (let length = 0; length < size; length += 64)
    parts.push(createHash("sha256").update(`${n}/${length}`).digest("hex"));
  return parts.join("").slice(0, size);
}

function definitions(ran: { times: number }): readonly ToolDefinition<Args, unknown>[] {
  const run = (args: Args) => {
    ran.times++;
    return { n: args.n, said: textOf({ n: args.n, size: Math.min(args.size, 200) }) };
  };
  const fail = (error: Error) => () => {
    ran.times++;
    throw error;
  };
  return [
    { name: "pay", policy: "approve", run },
    { name: "ask", policy: "escalate", run },
    {
      name: "ask_two",
      policy: { verdict: "escalate", approvers: { quorum: 2, from: ["person:ann", "person:bob"] } },
      run,
    },
    {
      name: "big",
      policy: "approve",
      run(args) {
        ran.times++;
        return textOf(args);
      },
    },
    {
      name: "capped",
      policy: "approve",
      cost: () => ({ budget: "shared", amount: { currency: "USD", micros: 1_000_000n } }),
      run,
    },
    { name: "look", policy: "approve", effect: "read", run },
    { name: "blocked", policy: "block", run },
    { name: "fails", policy: "approve", run: fail(new NotApplied("the receiver said no")) },
    { name: "breaks", policy: "approve", run: fail(new Error("the line went dead")) },
    {
      name: "ledger",
      policy: "approve",
      effect: "transactional",
      runInTransaction(args, sql) {
        ran.times++;
        sql.run("INSERT INTO app_ledger (request, n) VALUES (?, ?)", `ledger ${args.n}`, args.n);
        return args.n;
      },
    },
  ];
}
