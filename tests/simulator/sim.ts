/** What every part of a simulation shares: the simulated processes, their end and their sleep, and the signing key. */

import type { castVote } from "../../src/approvals/decide.ts";
import type { Answer } from "../../src/effects/answer.ts";
import { type SigningKey, signingKeyFromPkcs8 } from "../../src/journal/jws.ts";
import { sha256 } from "../../src/kernel/canonical-json.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { IndexRow } from "../../src/kernel/transaction.ts";
import type { OpenRuntime } from "../../src/runtime/runtime.ts";
import type { MemoryDatabase } from "../../src/stores/memory/database.ts";
import type { ViewRow } from "../../src/stores/store.ts";
import type { Workflow, WorkflowResult } from "../../src/workflows/definition.ts";
import type { Counters, Fault, Race } from "./counters.ts";
import type { Random } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { ToolSpec, ToolVersion } from "./specs.ts";

export type SimWorkflow = Workflow<{ readonly n: number }, number>;

export type DeployedTool = ToolVersion & { readonly policyDigest: string; readonly schemaDigest: string };

/** One process from its start to its crash. */
export type SimProcess = Owner & {
  readonly number: number;
  readonly node: number;
  readonly tenant: string;
  readonly runtime: OpenRuntime;
  readonly tools: ReadonlyMap<string, DeployedTool>;
  readonly workflows: ReadonlyMap<string, SimWorkflow>;
  readonly crashed: Set<() => void>;
  readonly dropStore: () => void;
  clockOffset: number;
};

export type Violation = { readonly invariant: string; readonly what: string; readonly at: number };

export type Send = {
  readonly key: string;
  readonly action: string;
  readonly attempt: number;
  /** null: the sender was not told. */
  readonly argsDigest: string | null;
  readonly life: number;
  readonly at: number;
};

export type SimWorld = {
  readonly sends: Map<string, Send[]>;
  /** The key that an action was first sent with. */
  readonly keyOf: Map<string, string>;
  readonly applied: Map<string, Send[]>;
  /** Keys that receivers remember, by tool and key: when they were first seen. */
  readonly remembered: Map<string, number>;
  readonly inFlight: Map<string, number>;
  /** What an attempt said that it spent, by `action#attempt`. */
  readonly spent: Map<string, Map<string, bigint>>;
  /** How often the part of the world moved that a tool shows. */
  readonly levels: Map<string, number>;
  /** What a life was shown of an action, oldest first, by `life/action`. */
  readonly previews: Map<string, readonly { readonly digest: string; readonly at: number }[]>;
};

export type Acknowledged =
  | { readonly kind: "switch"; readonly scope: string; readonly stop: boolean }
  | { readonly kind: "standing"; readonly person: string; readonly suspend: boolean };
export type Ballot = Parameters<typeof castVote>[1];
export type Voted = Awaited<ReturnType<typeof castVote>>;

/** What a definition heard, as the how manieth thing, in one of its runs. */
export type HeardAnswer = {
  readonly tenant: string;
  readonly workflow: string;
  readonly attempt: number;
  readonly index: number;
  readonly key: string;
  readonly what: string;
};

export type Oracle = {
  /** Looks at what was committed since it looked last; `life` committed it. */
  observe(life: SimProcess): void;
  asked(life: SimProcess, tenant: string): void;
  listed(tenant: string, rows: readonly ViewRow[]): void;
  sent(life: SimProcess, spec: ToolSpec, send: Send): void;
  applied(spec: ToolSpec, send: Send): void;
  answered(tenant: string, requestId: string | null, answer: Answer<Json>): "again" | "done";
  voted(ballot: Ballot, answer: Voted): void;
  acknowledged(what: Acknowledged): void;
  /** Whether a request id names an action already. */
  knows(tenant: string, requestId: string | null): boolean;
  bindingOf(tenant: string, approval: string): string | undefined;
  isSuspended(tenant: string, person: string): boolean;
  heard(heard: HeardAnswer): void;
  /** A request id led to this workflow. */
  begun(tenant: string, requestId: string, workflow: string): void;
  finished(tenant: string, result: WorkflowResult<unknown>): void;
  /** Workflows that somebody runs, or should. */
  restless(): readonly string[];
  /** Workflows of a tenant that no process can go on with. */
  unfit(tenant: string): readonly string[];
  end(): void;
};

export type Sim = {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly scenario: Scenario;
  readonly counters: Counters;
  readonly database: MemoryDatabase;
  readonly world: SimWorld;
  readonly oracle: Oracle;
  /** The newest version of each tool: what a node gets when it starts. */
  readonly deployed: Map<string, ToolVersion>;
  readonly lives: SimProcess[];
  readonly violations: Violation[];
  /** Approvals that people were told about. */
  readonly told: {
    readonly tenant: string;
    readonly approval: string;
    readonly decideBy: number | null;
    /** How often people were asked anew because another stage had begun. */
    readonly round?: number;
  }[];
  /** Grants that a call has just found. */
  readonly looked: { readonly tenant: string; readonly grant: string }[];
  /** All that decisions have found in each index. */
  readonly indexed: Map<string, readonly IndexRow[]>;
  readonly trace: ((text: string) => void) | null;
  /** Lives between `before_recover` and `after_recover`. */
  readonly recovering: Set<SimProcess>;
  faultsOn: boolean;
  diskFullUntil: number;
  databaseOffset: number;
  busy: number;
  peopleListen: boolean;
};

export const CANARY = "canary-7Qx2-do-not-journal";
export const SECRET = { $secret: "env:TOKEN" } as const;
const BASE_TIME = 1_800_000_000_000;

export const wallTime = (sim: Sim): number => BASE_TIME + Math.floor(sim.scheduler.now());
export const databaseTime = (sim: Sim): number => wallTime(sim) + sim.databaseOffset;

/** A call is under way and its tool was deployed with another schema since: no process will have the one of before. */
export function isRedeployed({ deployed }: Sim, difference: string): boolean {
  const name = /^the tool of "(?:.*\/)?([^/]+)#\d+" is another/.exec(difference)?.[1];
  return name !== undefined && (deployed.get(name)?.schema ?? 1) > 1;
}

/** Whether a fault happens here and now; counted if so. */
export function strikes(sim: Sim, fault: Fault): boolean {
  const rate = sim.scenario.rates.get(fault) ?? 0;
  if (!sim.faultsOn || rate === 0 || !sim.random.chance(rate)) return false;
  count(sim, fault);
  return true;
}

export function count(sim: Sim, name: Fault | Race | (string & {})): void {
  sim.counters.set(name, (sim.counters.get(name) ?? 0) + 1);
}

export function fail(sim: Sim, invariant: string, what: string): void {
  sim.trace?.(`VIOLATION ${invariant}: ${what}`);
  sim.violations.push({ invariant, what, at: sim.scheduler.now() });
}

export function aliveIn(sim: Sim, tenant: string): readonly SimProcess[] {
  return sim.lives.filter((life) => life.alive && life.tenant === tenant);
}

export type WorkResult<Value> =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "crashed" };

/** Work inside a process: it may end with the process instead of an answer. */
export function runOnProcess<Value>(
  life: SimProcess,
  work: () => Promise<Value>,
): Promise<WorkResult<Value>> {
  return new Promise((resolve) => {
    if (!life.alive) {
      resolve({ kind: "crashed" });
      return;
    }
    const gone = () => resolve({ kind: "crashed" });
    life.crashed.add(gone);
    const end = (said: WorkResult<Value>) => {
      life.crashed.delete(gone);
      resolve(said);
    };
    work().then(
      (value) => end({ kind: "value", value }),
      (error: unknown) => end({ kind: "error", error }),
    );
  });
}

export const never = <Value>(): Promise<Value> => new Promise(() => {});

export function crashProcess(sim: Sim, life: SimProcess, why: string): void {
  if (!life.alive) return;
  sim.trace?.(`node ${life.node} (life ${life.number}) crashes ${why}`);
  life.alive = false;
  life.dropStore();
  for (const gone of [...life.crashed]) gone();
}

/** An orderly end, unless it takes too long. */
export async function shutDownProcess(sim: Sim, life: SimProcess): Promise<void> {
  sim.trace?.(`node ${life.node} (life ${life.number}) closes`);
  sim.scheduler.after(sim.random.between(100, 40_000), life, () => crashProcess(sim, life, "while closing"));
  const said = await runOnProcess(life, () => life.runtime.close());
  if (said.kind !== "value") return crashProcess(sim, life, "because closing failed");
  count(sim, "node closed");
  crashProcess(sim, life, "in good order");
}

const HOUR_MS = 3_600_000;

/** Tasks of a frozen process wait. One that wakes may find its clock set back, as after a virtual machine's resumption. */
export function freezeMaybe(
  sim: Sim,
  life: SimProcess,
  fault: "node frozen" | "node frozen while an effect is under way" = "node frozen",
): void {
  if (!strikes(sim, fault)) return;
  const { leaseMs } = sim.scenario;
  const least = fault === "node frozen" ? 100 : (leaseMs ?? 100);
  const ms = sim.random.between(least, leaseMs === null ? 8_000 : 4 * leaseMs);
  life.frozenUntil = sim.scheduler.now() + ms;
  sim.trace?.(`node ${life.node} (life ${life.number}) freezes for ${ms} ms`);
  if (leaseMs !== null && ms >= leaseMs) count(sim, "node frozen past its lease");
  if (!sim.random.chance(0.2)) return;
  life.clockOffset -= sim.random.between(ms, HOUR_MS);
  count(sim, "node clock jump");
}

/** Made from a public text: it protects nothing and is the same in every run. */
const KEY_DER = Buffer.concat([
  Buffer.from("302e020100300506032b657004220420", "hex"),
  Buffer.from(sha256("the simulator's signing key"), "hex"),
]);
const KEY_PEM = `-----BEGIN PRIVATE ${"KEY"}-----\n${KEY_DER.toString("base64")}\n-----END PRIVATE ${"KEY"}-----`;
export const SIGNING_KEY: SigningKey = signingKeyFromPkcs8(KEY_PEM);
