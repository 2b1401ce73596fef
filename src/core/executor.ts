/** What a process with the tool at hand brings to a decision, and what rules ask it to load first. */
import type { Json } from "../kernel/json.ts";
import { isArtifactRef } from "../kernel/stored-value.ts";

import type { ToolRules } from "./tool-rules.ts";

/** The tool, large arguments that the process loaded, fresh ids and its own epoch. */
export type Executor = {
  readonly rules: ToolRules;
  /** By key: values kept as artifacts, by the digest of their canonical JSON; a workflow's history. */
  readonly loaded: ReadonlyMap<string, Json>;
  readonly epoch: string;
  /** The agent performs it itself, and has so long to report the outcome. */
  readonly outside?: { readonly reportWithinMs: number; readonly asker?: Asker };
  readonly ids: { readonly approval: string; readonly nonce: string };
};

/** Who asks for a permit. */
export type Asker = {
  /** The digest of the holder; null where the agent sends none. */
  readonly holder: string | null;
  /** The permit is begun in the commit that issues it. */
  readonly begin: boolean;
  /** Names this request, so that its rules recognise what they wrote when they run again. */
  readonly ask: string;
};

/** Something that is not in the states has to be loaded first: large arguments, by their digest, a workflow's history and so on. */
export type Load = {
  readonly kind: "load";
  readonly key: string;
  /** For a preview: the call that it is of. */
  readonly preview?: PreviewCall;
};

export function argsOf(
  kept: { readonly args: Json; readonly argsDigest: string },
  loaded: ReadonlyMap<string, Json>,
): Load | { readonly kind: "args"; readonly value: Json } {
  if (!isArtifactRef(kept.args)) return { kind: "args", value: kept.args };
  const value = loaded.get(kept.argsDigest);
  return value === undefined ? { kind: "load", key: kept.argsDigest } : { kind: "args", value };
}

/** A call as a tool's `preview` is told of it; `args` are those that would run. */
export type PreviewCall = {
  readonly action: string;
  readonly requestId: string | null;
  readonly agent: string;
  readonly args: Json;
};
