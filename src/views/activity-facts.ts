/** What activity is counted from: the little that is needed of a row, since there may be many. */
import { isQuestionEnd, QUESTION_ENDS, type QuestionEnd } from "../approvals/state.ts";
import type { JsonObject } from "../kernel/json.ts";

type Row = {
  readonly stream: { readonly id: string };
  readonly bucket: string;
  readonly at: number;
  readonly data: JsonObject;
};

export type Decision = (typeof QUESTION_ENDS)[QuestionEnd]["countsAs"];
export const OUTCOMES = ["applied", "not_applied", "in_doubt", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const VERDICTS = ["approve", "revise", "block", "escalate"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** An approval. */
export type AskedFact = {
  readonly at: number;
  readonly tool: string | null;
  readonly agent: string;
  /** The action that it is about; null where it is a checkpoint, a question or an intent. */
  readonly action: string | null;
  readonly decision: Decision | null;
  readonly decidedAt: number | null;
  /** People who decided. */
  readonly people: readonly string[];
};

/** An action. */
export type ActionFact = {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly agent: string;
  /** What policy said; null where it was not asked, or an older version wrote the row. */
  readonly verdict: Verdict | null;
  readonly outcome: Outcome | null;
  /** When it had that outcome; of a refusal, when it was proposed. */
  readonly endedAt: number;
};

const isOutcome = (value: string): value is Outcome => (OUTCOMES as readonly string[]).includes(value);
const isVerdict = (value: unknown): value is Verdict => (VERDICTS as readonly unknown[]).includes(value);

/** What was given and then used, lapsed or taken back had been decided all the same. */
function decisionIn({ bucket, data }: Row): Decision | null {
  if (bucket === "pending") return null;
  if (isQuestionEnd(bucket)) return QUESTION_ENDS[bucket].countsAs;
  return data["edited"] === true ? "modified" : "approved";
}

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Of a row of `approvals`. */
export function askedFact(row: Row): AskedFact {
  const { at, data } = row;
  const isAction = data["about"] === "action";
  const by = Array.isArray(data["decidedBy"]) ? data["decidedBy"].map(String) : [];
  return {
    at,
    tool: isAction ? String(data["tool"]) : null,
    agent: String(data["agent"]),
    action: isAction ? String(data["action"]) : null,
    decision: decisionIn(row),
    decidedAt: numberOrNull(data["decidedAt"]),
    people: by.filter((who) => who.startsWith("person:")),
  };
}

/** Of a row of `actions`. */
export function actionFact({ stream, bucket, at, data }: Row): ActionFact {
  const outcome = isOutcome(bucket) ? bucket : null;
  const verdict = isVerdict(data["verdict"]) ? data["verdict"] : null;
  const endedAt = numberOrNull(data["endedAt"]) ?? at;
  return {
    id: stream.id,
    at,
    tool: String(data["tool"]),
    agent: String(data["agent"]),
    verdict,
    outcome,
    endedAt,
  };
}
