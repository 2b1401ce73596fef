/** What a replay tells: what was proposed, how it was reviewed, what people decided, what started. */

import type { Json } from "../../kernel/json.ts";
import type { ReservedCost, ReviewFacts } from "../action/events.ts";
import type { Within } from "../action/within.ts";
import { type Asked, UNDO_NOT_NAMED } from "../policy/tool-pattern.ts";
import type { ApprovalTerms } from "../stages.ts";
import type { Fork } from "../workflow/events.ts";
import type { Flows } from "./past.ts";

export type RecordedAction = {
  readonly id: string;
  readonly tool: string;
  readonly effectClass: string;
  readonly schema: string;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  readonly within: Within | null;
  /** As proposed; over 64 KiB a reference. */
  readonly args: Json;
  readonly argsDigest: string;
  readonly at: number;
};

/** What a policy is asked about it as. What an agent named as an undo is a call of that tool. */
export const askedAs = ({ within }: Pick<RecordedAction, "within">): Asked =>
  within === null || within.undoes === null || within.declared !== undefined ? "call" : "undo";

/** Rules under which an undo was let through that the document had nothing to say of. */
const LEFT_TO_THE_PROGRAM: readonly string[] = ["policy", UNDO_NOT_NAMED];

/**
 * May be of a journal from before undos that agents name were reviewed as calls: then a document was asked about one as about
 * what a tool declares, and could leave it to the program.
 */
export const mayBeLeftAlone = (
  { within }: Pick<RecordedAction, "within">,
  { verdict, rule }: Pick<RecordedReview, "verdict" | "rule">,
): boolean => within?.declared !== undefined && verdict === "approve" && LEFT_TO_THE_PROGRAM.includes(rule);

export type RecordedReview = ReviewFacts & { readonly revised: boolean; readonly argsDigest: string };
export type PersonDecision = "approved" | "edited" | "rejected" | "expired" | "cancelled";

type About = { readonly action: RecordedAction };

export type Heard =
  | { readonly kind: "proposed"; readonly at: number }
  | { readonly kind: "lost"; readonly at: number; readonly what: "proposal" | "review" | "decision" }
  | { readonly kind: "forked"; readonly workflow: string; readonly fork: Fork; readonly position: number }
  | (About & { readonly kind: "reviewed"; readonly review: RecordedReview; readonly now: number })
  /** People were asked, about these arguments. */
  | (About & {
      readonly kind: "asked";
      readonly args: Json;
      readonly argsDigest: string;
      readonly rule: string;
      readonly terms: ApprovalTerms;
      /** More than one of them has to agree, at once or in stages. */
      readonly ofSeveral: boolean;
    })
  /** An approval that was given was taken back before it was used. */
  | {
      readonly kind: "revoked";
      readonly approval: string;
      readonly by: readonly string[];
      readonly reason: string;
    }
  | (About & { readonly kind: "edited"; readonly args: Json; readonly by: string; readonly now: number })
  | (About & {
      readonly kind: "decided";
      readonly approval: string;
      readonly decision: PersonDecision;
      readonly by: readonly string[];
      readonly reason: string;
      readonly now: number;
      /** Of the arguments that were approved, where a person changed them. */
      readonly editedDigest: string | null;
    })
  | (About & { readonly kind: "started"; readonly costs: readonly ReservedCost[] });

export type OpenAction = {
  readonly action: RecordedAction;
  revised: string | null;
  reviewed: boolean;
  /** Digests of the arguments that people were asked about last, and that one of them last wanted instead. */
  asked: string | null;
  edited: string | null;
  /** What people were asked about last is what one of them had made of it. */
  isEdit: boolean;
};
export type Question = { readonly action: RecordedAction; editedDigest: string | null };

/** What a replay remembers on its way. */
export type Deck = {
  readonly flows: Flows;
  /** Actions that have neither started nor been refused. */
  readonly open: Map<string, OpenAction>;
  /** Calls of workflows whose outcome is still to come, and where they belong. */
  readonly calls: Map<string, string>;
  /** Of approvals that nobody has decided. */
  readonly questions: Map<string, Question>;
};
