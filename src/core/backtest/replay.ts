/**
 * Plays a journal again and says what happened to actions: how each was reviewed, what people decided, what started.
 *
 * Y1. An action is told as it was proposed, with what its policy could see at its first review: later facts are not known yet.
 * Y2. Whatever cannot be told, because a body was erased, is told as lost; nothing is left out in silence.
 */

import { copyJson } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import type { Within } from "../action/within.ts";

import type { PastCall, PolicyInput } from "../verdict.ts";
import type { Deck, Heard, RecordedAction } from "./heard.ts";
import { beginWith, type FlowFacts, flowFacts, historyOf, takeWorkflow } from "./past.ts";
import { takeAction } from "./replay-action.ts";
import { takeApproval } from "./replay-approval.ts";
import type { TapeEntry } from "./tape.ts";

type Told = { readonly args: Json; readonly now: number };
/** `isWhole` answers false if its history was looked at and some of that was erased, or is kept apart from the journal. */
type Asked = { readonly input: PolicyInput; readonly isWhole: () => boolean };

export type Replay = {
  take(entry: TapeEntry): Heard | undefined;
  /** What a workflow that was forked begins with; null when that cannot be known any more. */
  begin(workflow: string, calls: readonly PastCall[] | null): void;
  /** What a policy would be told about an action at this place of the tape. */
  input(action: RecordedAction, told: Told): Asked;
};

function placeOf({ workflow, op }: Within, flow: FlowFacts | undefined): PolicyInput["workflow"] {
  const { name = "", poster = "", generation = Number(op.split("/")[1] ?? 1) } = flow ?? {};
  return { id: workflow, name, generation, poster };
}

function ofWorkflow(deck: Deck, entry: TapeEntry): Heard | undefined {
  const fork = takeWorkflow(deck.flows, entry);
  if (fork === undefined) return undefined;
  return { kind: "forked", workflow: entry.id, fork, position: entry.position };
}

const isPartly = ({ args, result }: PastCall): boolean => isArtifactRef(args) || isArtifactRef(result);

/** Its history is put together when a policy looks at it, at this place of the tape. */
function inputOf(deck: Deck, action: RecordedAction, { args, now }: Told): Asked {
  const { id, tool, effectClass, agent, requester, requestId, within } = action;
  const known = { tool, effectClass, args, agent, requester, requestId, now };
  if (within === null) return { input: { ...known, workflow: null, history: [] }, isWhole: () => true };
  const flow = flowFacts(deck.flows, within.workflow);
  let history: readonly PastCall[] | undefined;
  const input = {
    ...known,
    workflow: placeOf(within, flow),
    get history() {
      // A copy: what a policy does to it stays there.
      history ??= copyJson(historyOf(deck.flows, within.workflow, id)) as unknown as readonly PastCall[];
      return history;
    },
  };
  const isWhole = () => history === undefined || (flow?.whole === true && !history.some(isPartly));
  return { input, isWhole };
}

export function startReplay(): Replay {
  const deck: Deck = { flows: new Map(), open: new Map(), calls: new Map(), questions: new Map() };
  return {
    take(entry) {
      switch (entry.kind) {
        case "action":
          return takeAction(deck, entry);
        case "approval":
          return takeApproval(deck, entry);
        case "workflow":
          return ofWorkflow(deck, entry);
        default:
          return undefined;
      }
    },
    begin: (workflow, calls) => beginWith(deck.flows, workflow, calls),
    input: (action, told) => inputOf(deck, action, told),
  };
}
