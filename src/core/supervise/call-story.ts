/** One gated call as its own streams tell it: proposed, decided, executed, observed. */

import type { ApprovalEvent } from "../../approvals/stream.ts";
import type { ActionEvent, ExecutedFrom, ReviewFacts } from "../../effects/state.ts";
import type { Json } from "../../kernel/json.ts";
import { type Refusal, refusal } from "../../kernel/refusals.ts";

export type Told = { readonly type: string; readonly at: number; readonly body: Json };

export type Revision = {
  readonly by: string;
  readonly reason: string;
  readonly rule: string;
  readonly args: Json;
};

export type People = {
  readonly status: "pending" | "approved" | "rejected" | "expired" | "cancelled";
  readonly by: readonly string[];
  /** What they noted, or why they refused. */
  readonly words: readonly string[];
};

export type CallEnd =
  | { readonly kind: "open" }
  | { readonly kind: "applied"; readonly result: Json }
  | { readonly kind: "in_doubt"; readonly reason: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export type CallStory = {
  readonly tool: string;
  readonly proposed: Json;
  readonly proposedDigest: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly from: ExecutedFrom;
  readonly revisions: readonly Revision[];
  readonly reviews: readonly ReviewFacts[];
  readonly people: People | null;
  /** What a person had granted before, where that stood for their vote. */
  readonly grant: string | null;
  readonly end: CallEnd;
  /** When people had decided, when the effect began, and when it had come to an end. */
  readonly decidedAt: number;
  readonly startedAt: number | null;
  readonly doneAt: number | null;
};

const EMPTY: CallStory = {
  tool: "",
  proposed: {},
  proposedDigest: "",
  args: {},
  argsDigest: "",
  from: "original",
  revisions: [],
  reviews: [],
  people: null,
  grant: null,
  end: { kind: "open" },
  decidedAt: 0,
  startedAt: null,
  doneAt: null,
};

function revise(story: CallStory, { by, args, argsDigest, reason, rule }: Revision & { argsDigest: string }) {
  const isPerson = by !== "policy" || story.from === "human_revised";
  const from = isPerson ? "human_revised" : "supervisor_revised";
  const revisions = [...story.revisions, { by, args, reason, rule }];
  return { ...story, args, argsDigest, from, revisions } as const;
}

function tellAction(story: CallStory, event: ActionEvent, at: number): CallStory {
  switch (event.type) {
    case "action.proposed": {
      const { tool, args, argsDigest } = event.body;
      return { ...story, tool, proposed: args, proposedDigest: argsDigest, args, argsDigest };
    }
    case "action.revised":
      return revise(story, event.body);
    case "action.reviewed": {
      const { approval: _, ...review } = event.body;
      return { ...story, reviews: [...story.reviews, review] };
    }
    case "effect.started": {
      const { grant } = event.body;
      return { ...story, startedAt: at, grant: grant.kind === "standing" ? grant.grant : null };
    }
    case "action.held":
    case "action.refused":
      return { ...story, end: { kind: "refused", refusal: event.body }, doneAt: at };
    default:
      return tellEffect(story, event, at);
  }
}

function tellEffect(story: CallStory, event: ActionEvent, at: number): CallStory {
  const doneAt = story.doneAt ?? at;
  switch (event.type) {
    case "effect.applied":
      return { ...story, end: { kind: "applied", result: event.body.result }, doneAt };
    case "effect.in_doubt":
      return { ...story, end: { kind: "in_doubt", reason: event.body.reason }, doneAt };
    case "effect.not_applied":
      return { ...story, end: notApplied(story.tool, event.body.reason), doneAt };
    case "effect.resolved": {
      const { status, result, reason } = event.body;
      return {
        ...story,
        end: status === "applied" ? { kind: "applied", result } : notApplied(story.tool, reason),
      };
    }
    default:
      return story;
  }
}

function tellApproval(story: CallStory, event: ApprovalEvent, at: number): CallStory {
  const before = story.people ?? { status: "pending", by: [], words: [] };
  const ended = (people: Partial<People>): CallStory => ({
    ...story,
    people: { ...before, ...people },
    decidedAt: at,
  });
  switch (event.type) {
    // Another one that asks instead: what was said of the first does not count for it.
    case "approval.requested":
      return { ...story, people: { status: "pending", by: [], words: [] } };
    case "approval.voted": {
      const { note } = event.body;
      return note === null ? story : { ...story, people: { ...before, words: [...before.words, note] } };
    }
    case "approval.approved":
    case "approval.modified":
      return ended({ status: "approved", by: event.body.by });
    case "approval.rejected":
      return ended({ status: "rejected", by: [event.body.by], words: [event.body.reason] });
    case "approval.expired":
      return ended({ status: "expired", by: [] });
    case "approval.cancelled":
    case "approval.revoked":
      return ended({ status: "cancelled", by: [event.body.by], words: [event.body.reason] });
    default:
      return story;
  }
}

const notApplied = (tool: string, reason: string): CallEnd => ({
  kind: "refused",
  refusal: refusal("not_applied", `tool ${tool}`, reason),
});

/** From its records, in the order in which they were committed. Large values stand in them already in full. */
export function storyOf(records: readonly Told[]): CallStory {
  let story = EMPTY;
  for (const { type, body, at } of records) {
    // What was erased cannot be told any more; the rest can.
    if (body === null) continue;
    const event = { type, tv: 1, body };
    if (type.startsWith("approval.")) story = tellApproval(story, event as unknown as ApprovalEvent, at);
    else story = tellAction(story, event as unknown as ActionEvent, at);
  }
  return story;
}
