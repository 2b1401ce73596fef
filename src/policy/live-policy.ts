/**
 * The policy of an instance: a document, or a file that is read again when it changes.
 * - A version that does not compile never replaces the one in force. A first version that does not compile is an error.
 * - A version is in the journal before the first verdict that names it, and before it is recorded as used.
 * - From its first effect on, the journal records which version this process judges by and until when, in request
 *   order. A process that performs no effects judges nothing and is not recorded.
 * - Tools that a run brings are checked first: one that does not fit is refused and changes nothing. Removing a tool
 *   takes nothing out of force.
 */
import { unwatchFile, watchFile } from "node:fs";
import type { Tool } from "../effects/tool.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { policyStream } from "../kernel/stream.ts";
import type { PolicyUse, Runtime } from "../runtime/runtime.ts";
import { runCommand } from "../runtime/store-access.ts";
import { openPolicySource, type PolicySource, type SourceReader, sourceName } from "./read.ts";
import { adoptPolicy, leavePolicy, takePolicy, type UsedVersion } from "./rules/adopt.ts";
import type { CompiledPolicy } from "./rules/compile.ts";
import type { KnownTool } from "./rules/tools.ts";

const keyOf = ({ name, digest }: UsedVersion): string => `${name} ${digest}`;

const turns = new WeakMap<Runtime, Promise<void>>();

/** Runs calls in order. A failure goes to its caller only and does not block later calls. */
function inTurn(runtime: Runtime, tell: () => Promise<void>): Promise<void> {
  const mine = (turns.get(runtime) ?? Promise.resolve()).then(tell);
  turns.set(
    runtime,
    mine.catch(() => undefined),
  );
  return mine;
}

/** The version must already be adopted. */
const putInForce = (runtime: Runtime, version: UsedVersion): Promise<void> =>
  inTurn(runtime, () => recordTaken(runtime, version));

const takeOutOfForce = (runtime: Runtime, version: UsedVersion): Promise<void> =>
  inTurn(runtime, () => recordLeft(runtime, version));

async function recordTaken(runtime: Runtime, version: UsedVersion): Promise<void> {
  const { inForce, agent: by } = runtime;
  const known = inForce.get(keyOf(version));
  if (known !== undefined) {
    known.count += 1;
    return;
  }
  const use: PolicyUse = { version, count: 1, epoch: null };
  inForce.set(keyOf(version), use);
  const epoch = await runtime.begunEpoch();
  if (epoch === undefined || use.epoch !== null) return;
  await runCommand(runtime, { write: [policyStream(version.name)] }, (draft) =>
    takePolicy(draft, version, { epoch: epoch.id, by }),
  );
  use.epoch = epoch.id;
}

async function recordLeft(runtime: Runtime, version: UsedVersion): Promise<void> {
  const { inForce } = runtime;
  const use = inForce.get(keyOf(version));
  if (use === undefined || --use.count > 0) return;
  inForce.delete(keyOf(version));
  const epoch = await runtime.begunEpoch();
  if (epoch === undefined) return;
  await runCommand(runtime, { write: [policyStream(version.name)] }, (draft) =>
    leavePolicy(draft, version, { epoch: epoch.id }),
  );
}

export type LivePolicy = {
  /** The version in force, checked against the tools that are known now. */
  current(): CompiledPolicy;
  /** Throws if these tools do not fit the version in force. */
  admit(more: readonly Tool[]): void;
  /** Records which version is in force, and follows the file until the instance closes. */
  open(runtime: Runtime): Promise<void>;
  /** Stops following the file and takes the version out of force. */
  close(runtime: Runtime): Promise<void>;
};

const LOOK_MS = 1_000;

function knownTool({ rules: { name, effectClass, schemaText } }: Tool): KnownTool {
  const schema = schemaText === null ? null : (JSON.parse(schemaText) as JsonObject);
  return { name, effectClass, schema };
}

function invalid(source: string, faults: readonly string[]): HoldpointError {
  const what = `The policy ${source} cannot be used:\n  ${faults.join("\n  ")}`;
  return new HoldpointError("policy_invalid", what, { details: { faults } });
}

function misfit(source: string, faults: unknown): HoldpointError {
  const told = Array.isArray(faults) ? faults.map(String) : [];
  const what = `What the run brings does not fit the policy ${source}, which is in force:\n  ${told.join("\n  ")}`;
  return new HoldpointError("policy_invalid", what, {
    details: { faults: told },
    data: "Nothing was started, and the policy is in force as before.",
    next: "Give the tool another name or the fields that the rules ask for, or let the rules say which tools they are for.",
  });
}

/** Of tools in the second map that are not in `tools`, only the names are known. */
type PolicyTools = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly elsewhere?: ReadonlyMap<string, Tool>;
};

type Compiled = {
  /** The tools that the policy was checked against. Removing one needs no new check. */
  readonly tools: ReadonlySet<Tool>;
  readonly policy: CompiledPolicy;
  readonly warnings: readonly string[];
};

function isFor({ tools }: Compiled, now: ReadonlyMap<string, Tool>): boolean {
  for (const tool of now.values()) if (tool.isLeftOver !== true && !tools.has(tool)) return false;
  return true;
}

const isPlain = ({ isOwn, isLeftOver }: Tool): boolean => isOwn !== true && isLeftOver !== true;

function knownTools(
  { tools, elsewhere = new Map() }: PolicyTools,
  more: readonly Tool[],
): readonly KnownTool[] {
  const others = [...elsewhere.values()].filter((tool) => isPlain(tool) && !tools.has(tool.rules.name));
  return [
    ...[...tools.values(), ...more].filter(isPlain).map(knownTool),
    ...others.map((tool) => ({ ...knownTool(tool), isElsewhere: true as const })),
  ];
}

/** Recompiles when there are tools that the policy was not checked against. */
function compiler(source: string, read: SourceReader, reach: PolicyTools) {
  const { tools } = reach;
  let known: Compiled | undefined;
  return (more: readonly Tool[] = []): Compiled => {
    if (known !== undefined && more.length === 0 && isFor(known, tools)) return known;
    const reading = read(knownTools(reach, more));
    if (!reading.ok) throw invalid(source, reading.faults);
    const { policy, warnings } = reading;
    known = { tools: new Set([...tools.values(), ...more]), policy, warnings };
    return known;
  };
}

function admit(source: string, compiled: ReturnType<typeof compiler>, more: readonly Tool[]): void {
  if (more.length === 0) return;
  // First without the new tools, so that they are not blamed for a fault that was there before.
  compiled();
  try {
    compiled(more);
  } catch (error) {
    if (!(error instanceof HoldpointError) || error.code !== "policy_invalid") throw error;
    throw misfit(source, error.details?.["faults"]);
  }
}

async function record(runtime: Runtime, { policy, warnings }: Compiled, source: string): Promise<void> {
  const { name, digest, document } = policy;
  const command = { name, digest, document, by: runtime.agent, source };
  const adopted = await runCommand(runtime, { write: [policyStream(name)] }, (draft) =>
    adoptPolicy(draft, command),
  );
  if (adopted.kind !== "adopted") return;
  const { before } = adopted;
  runtime.notify({ kind: "policy_adopted", policy: name, digest, before, source, warnings });
}

/** Resolves once no read is in progress. */
type Unfollow = () => Promise<void>;

/** Follows the file until the instance closes or the caller unfollows. */
function followFile(runtime: Runtime, file: string, reload: () => Promise<void>): Unfollow {
  let turn = Promise.resolve();
  const changed = () => {
    turn = turn.then(reload);
  };
  const stop = () => unwatchFile(file, changed);
  watchFile(file, { interval: LOOK_MS, persistent: false }, changed);
  runtime.closing.addEventListener("abort", stop, { once: true });
  return () => {
    stop();
    runtime.closing.removeEventListener("abort", stop);
    return turn;
  };
}

export function livePolicy(given: PolicySource, reach: PolicyTools): LivePolicy {
  const source = sourceName(given);
  const first = openPolicySource(given);
  const syntax = first(null);
  if (!syntax.ok) throw invalid(source, syntax.faults);
  let compiled = compiler(source, first, reach);
  let used: UsedVersion | null = null;
  let unfollow: Unfollow = async () => undefined;
  let isClosed = false;

  async function use(runtime: Runtime, { name, digest }: CompiledPolicy): Promise<void> {
    const before = used;
    if (before?.name === name && before.digest === digest) return;
    used = { name, digest, source };
    await putInForce(runtime, used);
    if (before !== null) await takeOutOfForce(runtime, before);
  }

  /** Uses a version only once it is in the journal. A file that does not compile changes nothing. */
  async function reload(runtime: Runtime): Promise<void> {
    if (isClosed) return;
    try {
      const next = compiler(source, openPolicySource(given), reach);
      await record(runtime, next(), source);
      // Again: a run may have brought a tool meanwhile.
      const { policy } = next();
      compiled = next;
      await use(runtime, policy);
    } catch (error) {
      const faults = error instanceof HoldpointError ? error.details?.["faults"] : undefined;
      if (!Array.isArray(faults)) return runtime.notify({ kind: "maintenance_failed", error });
      runtime.notify({ kind: "policy_refused", source, faults: faults.map(String) });
    }
  }

  return {
    current: () => compiled().policy,
    admit: (more) => admit(source, compiled, more),
    async open(runtime) {
      used = null;
      await record(runtime, compiled(), source);
      await use(runtime, compiled().policy);
      if (typeof given !== "string") return;
      unfollow = followFile(runtime, given, () => reload(runtime));
      // The file may have changed, unnoticed, between the first read and the start of watching.
      await reload(runtime);
    },
    async close(runtime) {
      isClosed = true;
      await unfollow();
      const last = used;
      used = null;
      // If the process is closing, the end of its epoch already takes the version out of force.
      if (last !== null && !runtime.closing.aborted) await takeOutOfForce(runtime, last);
    },
  };
}
