/**
 * An epoch is one life of one process that performs effects. It ends once, for good.
 *
 * X1. Nothing starts and no outcome is accepted in the name of an epoch that ended.
 * X2. Only effects of ended epochs are recovered.
 */
import { HoldpointError } from "./errors.ts";
import { bodyOf, type Fold, type NewEvent } from "./event.ts";
import { isJsonObject, type Json } from "./json.ts";

/** What a process says of itself, for people who look at who is there. */
export type NodeFacts = {
  readonly agent: string;
  /** `host/pid`. */
  readonly process: string;
  /** `server`, `worker` or `program`. */
  readonly kind: string;
  readonly version: string | null;
};

export type EpochState =
  | { readonly life: "none" }
  | ({ readonly life: "open"; readonly openedAt: number } & NodeFacts)
  | { readonly life: "ended"; readonly how: "closed" | "died" };

function factsOf({ agent, process, node }: { readonly [field: string]: Json }): NodeFacts {
  const { kind = "program", version = null } = isJsonObject(node) ? node : {};
  const text = version === null ? null : String(version);
  return { agent: String(agent), process: String(process), kind: String(kind), version: text };
}

export const epochFold: Fold<EpochState> = {
  version: 2,
  initial: { life: "none" },
  evolve(state, event) {
    const body = bodyOf("An epoch", event, ["epoch.opened", "epoch.closed", "epoch.died"]);
    const isOpening = event.type === "epoch.opened";
    if (state.life !== (isOpening ? "none" : "open"))
      throw new HoldpointError(
        "broken_rule",
        `"${event.type}" cannot happen to an epoch that is ${state.life}.`,
      );
    if (isOpening) return { life: "open", openedAt: event.at, ...factsOf(body) };
    return { life: "ended", how: event.type === "epoch.closed" ? "closed" : "died" };
  },
};

export function openEpoch({ agent, process, kind, version }: NodeFacts): NewEvent[] {
  const node = kind === "program" ? {} : { node: { kind, version } };
  return [{ type: "epoch.opened", tv: 1, body: { agent, process, ...node } }];
}

/** `died` is said by another process that found its lock free; whoever says it first has ended it. */
export function endEpoch(state: EpochState, how: "closed" | "died", by: string): NewEvent[] {
  if (state.life !== "open") return [];
  return [{ type: `epoch.${how}`, tv: 1, body: { by } }];
}
