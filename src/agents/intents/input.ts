/** Input of the intent methods, checked before anything is read. */

import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import { isPrincipal } from "../../kernel/principal.ts";
import { displayValue } from "../../kernel/text.ts";
import { COMPENSATION_INTENT, HUMAN_APPROVAL_INTENT, readRecipient } from "./rules/send.ts";
import { INTENT_STATUSES, type IntentStatus } from "./stream.ts";

export type OutgoingIntent = {
  /** What is requested: `human_approval` asks people; the recipient interprets all other types. */
  readonly intentType: string;
  /**
   * `agent://name`, `service:name` or `person:name`; for `human_approval` a person, role or group: `agent://approver`
   * is `role:supervisor`.
   */
  readonly toAgent: string;
  readonly payload?: unknown;
  /** Sending the same again under this id returns the same intent. */
  readonly requestId?: string;
  /** The intent times out after this. Default: never. */
  readonly withinMs?: number;
  /** The intent that caused this one. */
  readonly parent?: string;
  /** A label of the sender's that several intents share. */
  readonly correlation?: string;
  /** The sender. Default: the program's own agent. */
  readonly from?: string;
};

export type IntentPage = {
  readonly status?: IntentStatus;
  /** A principal, role or group; `agent://name` means the agent. */
  readonly to?: string;
  readonly from?: string;
  readonly limit?: number;
  readonly after?: string;
  readonly order?: "oldest" | "newest";
};

export type WaitOptions = {
  /** How long to wait. Default: no limit. The intent goes on afterwards. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
};

export type IntentAnswer = {
  /** The recipient. Default: the program's own agent. */
  readonly by?: string;
} & ({ readonly data: unknown } | { readonly failed: string });

const TYPE = /^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/;
const SEND = ["intentType", "toAgent", "payload", "requestId", "withinMs", "parent", "correlation", "from"];

function checkIntentText(field: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value === "" || value.length > 200 || !value.isWellFormed())
    rejectInput(`The ${field} of an intent is a text of 1 to 200 characters.`);
}

export function checkIntentSpeaker(by: unknown): void {
  if (by !== undefined && !isPrincipal(by))
    rejectInput(`"${displayValue(by)}" is not a principal: write agent:<name> or person:<name>.`);
}

/** The intent as given, with its resolved recipient. */
export function checkOutgoingIntent(given: OutgoingIntent): OutgoingIntent & { readonly to: string } {
  const { intentType, toAgent, requestId, withinMs, parent, correlation, from } = checkFields(
    "An intent",
    given,
    SEND,
  );
  if (typeof intentType !== "string" || !TYPE.test(intentType))
    rejectInput("The type of an intent is a word of letters and digits, such as human_approval.");
  if (intentType === COMPENSATION_INTENT)
    rejectInput(
      `An intent of the type ${COMPENSATION_INTENT} is sent by a workflow that goes back, and by nobody else: choose another type.`,
    );
  if (typeof toAgent !== "string" || toAgent.length > 250)
    rejectInput("An intent is sent to agent://<name>.");
  const to = readRecipient(intentType, toAgent);
  if (to === undefined)
    return rejectInput(
      intentType === HUMAN_APPROVAL_INTENT
        ? `"${displayValue(toAgent)}" names nobody who could approve: write agent://approver, person:<name>, role:<role> or group:<name>.`
        : `"${displayValue(toAgent)}" names nobody who could answer: write agent://<name>, service:<name> or person:<name>.`,
    );
  checkIntentText("request id", requestId);
  checkIntentText("parent", parent);
  checkIntentText("correlation", correlation);
  checkIntentSpeaker(from);
  if (withinMs !== undefined && !(Number.isSafeInteger(withinMs) && withinMs > 0))
    rejectInput("The time of an intent is a whole number of milliseconds of at least 1.");
  return { ...given, to };
}

const MOST = 1_000;

export function checkIntentPage(page: IntentPage): IntentPage {
  const { status, limit, order, to, from, after } = checkFields("A page of intents", page, [
    "status",
    "to",
    "from",
    "limit",
    "after",
    "order",
  ]);
  if (status !== undefined && !INTENT_STATUSES.includes(status))
    rejectInput(`An intent's status is one of ${INTENT_STATUSES.join(", ")}, not "${displayValue(status)}".`);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MOST))
    rejectInput(`A limit is a whole number from 1 to ${MOST}.`);
  if (order !== undefined && order !== "oldest" && order !== "newest")
    rejectInput("A list's order is oldest or newest.");
  for (const text of [to, from, after]) if (text !== undefined) checkId("What is listed", text);
  return page;
}

export function checkWaitOptions(options: WaitOptions): WaitOptions {
  const { timeoutSeconds, signal } = checkFields("Waiting", options, ["timeoutSeconds", "signal"]);
  if (timeoutSeconds !== undefined && !(Number.isFinite(timeoutSeconds) && timeoutSeconds >= 0))
    rejectInput("timeoutSeconds is a number of at least 0.");
  if (signal !== undefined && !(signal instanceof AbortSignal)) rejectInput("A signal is an AbortSignal.");
  return options;
}

export function checkIntentAnswer(answer: IntentAnswer): IntentAnswer {
  const given: { by?: unknown; data?: unknown; failed?: unknown } = checkFields("An answer", answer, [
    "by",
    "data",
    "failed",
  ]);
  checkIntentSpeaker(given.by);
  const isFailed = "failed" in answer;
  if (isFailed === "data" in answer) rejectInput("An answer has either data, or why it failed.");
  if (isFailed) checkCancelReason(given.failed);
  return answer;
}

export function checkCancelReason(reason: unknown): string {
  if (typeof reason === "string" && reason.trim() !== "" && reason.isWellFormed() && reason.length <= 10_000)
    return reason;
  return rejectInput("A reason of at most 10000 characters is needed.");
}
