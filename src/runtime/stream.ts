/**
 * Epochs: events, state, fold and the list of nodes. An epoch is one life of one process that performs effects, and it
 * ends once, for good. Nothing starts and no outcome is accepted under an epoch that has ended. Only effects of ended
 * epochs are recovered. The stream does not record whether a process still holds its epoch.
 */

import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { eventBody, type Fold, type NewEvent } from "../kernel/stream.ts";

/** What a process reports about itself, for people who look at the list of nodes. */
export type EpochFacts = {
  readonly agent: string;
  /** `host/pid`. */
  readonly process: string;
  /** `server`, `worker` or `program`. */
  readonly kind: string;
  readonly version: string | null;
  /** Names of the workflows it can run, as of its start; null if it did not report them. */
  readonly definitions: readonly string[] | null;
};

type Life = EpochFacts & { readonly openedAt: number };

export type EpochState =
  | { readonly life: "none" }
  | (Life & { readonly life: "open" })
  | (Life & { readonly life: "ended"; readonly how: "closed" | "died"; readonly endedAt: number });

function factsOf({ agent, process, node, definitions }: { readonly [field: string]: Json }): EpochFacts {
  const { kind = "program", version = null } = isJsonObject(node) ? node : {};
  const text = version === null ? null : String(version);
  const names = Array.isArray(definitions) ? definitions.map(String) : null;
  const facts = { agent: String(agent), process: String(process), kind: String(kind) };
  return { ...facts, version: text, definitions: names };
}

export const epochFold: Fold<EpochState> = {
  version: 3,
  initial: { life: "none" },
  isOver: ({ life }) => life === "ended",
  evolve(state, event) {
    const body = eventBody("An epoch", event, ["epoch.opened", "epoch.closed", "epoch.died"]);
    const isOpening = event.type === "epoch.opened";
    if (isOpening && state.life === "none") return { life: "open", openedAt: event.at, ...factsOf(body) };
    if (isOpening || state.life !== "open")
      throw new HoldpointError(
        "broken_rule",
        `"${event.type}" cannot happen to an epoch that is ${state.life}.`,
      );
    const how = event.type === "epoch.closed" ? "closed" : "died";
    return { ...state, life: "ended", how, endedAt: event.at };
  },
};

/** With more names it reports none, because a truncated list would say that the rest do not exist. */
const MOST_NAMES = 500;

export function openEpoch({ agent, process, kind, version, definitions }: EpochFacts): NewEvent[] {
  const node = kind === "program" ? {} : { node: { kind, version } };
  const known = definitions === null || definitions.length > MOST_NAMES ? {} : { definitions };
  return [{ type: "epoch.opened", tv: 1, body: { agent, process, ...node, ...known } }];
}

/** `died` is recorded by another process that found its lock free. The first to record it has ended the epoch. */
export function endEpoch(state: EpochState, how: "closed" | "died", by: string): NewEvent[] {
  if (state.life !== "open") return [];
  return [{ type: `epoch.${how}`, tv: 1, body: { by } }];
}

export const nodesView = {
  view: "nodes",
  kind: "epoch",
  version: 1,
  row(_id: string, state: EpochState) {
    if (state.life === "none") return undefined;
    const { agent, process, kind, version, definitions, openedAt } = state;
    const end = state.life === "ended" ? { how: state.how, endedAt: state.endedAt } : {};
    const data: JsonObject = { agent, process, kind, version, definitions, openedAt, ...end };
    return { bucket: state.life, at: openedAt, due: null, data };
  },
} as const;
