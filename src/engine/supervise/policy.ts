/** The policy of a supervised run, where it is a document: a file that is followed, or the same as an object. */
import type { CompiledPolicy } from "../../core/policy/compile.ts";
import type { Policy } from "../define-tool.ts";
import type { Gates } from "../gate.ts";
import { type LivePolicy, livePolicy } from "../policy/live-policy.ts";
import type { PolicySource } from "../policy/policy-source.ts";
import type { Runtime } from "../runtime.ts";

type Given = Policy<never> | PolicySource | undefined;

/** A path ends like one; a verdict says that it is one. */
export function isDocument(policy: Given): policy is PolicySource {
  if (typeof policy === "string") return /\.(?:ya?ml|json)$/i.test(policy);
  return typeof policy === "object" && policy !== null && !("verdict" in policy);
}

type Opened = { readonly live: LivePolicy; readonly open: Promise<void>; runs: number };

/** By file or by object: while a run goes by it, and no longer. A file is watched once. */
type Known = Map<PolicySource, Opened>;

/** Of one instance: runs that name the same one share it. */
const opened = new WeakMap<Gates, Known>();

function knownTo(gates: Gates): Known {
  const known: Known = opened.get(gates) ?? new Map();
  opened.set(gates, known);
  return known;
}

export type OpenDocument = {
  readonly document: () => CompiledPolicy;
  /** When the run is over: with the last of those that go by it, it is in force no longer. */
  readonly giveBack: () => Promise<void>;
};

/** Answers once its version is in the journal. */
export async function openDocument(
  gates: Gates,
  runtime: Runtime,
  source: PolicySource,
): Promise<OpenDocument> {
  const all = knownTo(gates);
  const known = all.get(source) ?? begin(gates, runtime, source);
  all.set(source, known);
  known.runs++;
  const giveBack = async () => {
    if (--known.runs > 0) return;
    if (all.get(source) === known) all.delete(source);
    await known.live.close(runtime);
  };
  try {
    await known.open;
  } catch (error) {
    await giveBack();
    throw error;
  }
  return { document: () => known.live.current(), giveBack };
}

function begin(gates: Gates, runtime: Runtime, source: PolicySource): Opened {
  const live = livePolicy(source, gates.tools);
  return { live, open: live.open(runtime), runs: 0 };
}

export type DocumentLimits = CompiledPolicy["limits"];

/** The tightest of what the documents say that hold for a run. */
export function tightest(all: readonly DocumentLimits[]): DocumentLimits {
  const limits: { -readonly [Field in keyof DocumentLimits]: DocumentLimits[Field] } = {};
  for (const field of ["steps", "toolCalls", "seconds"] as const) {
    const said = all.flatMap((one) => one[field] ?? []);
    if (said.length > 0) limits[field] = Math.min(...said);
  }
  return limits;
}
