/** hp.intents: the library methods about intents. */

import { refuseUnnamed } from "../../effects/call-context.ts";
import { checkFields, checkId, checkSignal, rejectInput } from "../../kernel/fields.ts";
import { displayValue } from "../../kernel/text.ts";
import { findIds } from "../../runtime/lists.ts";
import type { RuntimeOpener } from "../../runtime/runtime.ts";
import { deliverIntentsTo, type IntentDelivery, type Waited, waitForIntent } from "./delivery.ts";
import {
  checkIntentAnswer,
  checkIntentPage,
  checkIntentSpeaker,
  checkOutgoingIntent,
  checkWaitOptions,
  type IntentAnswer,
  type IntentPage,
  type OutgoingIntent,
  type WaitOptions,
} from "./input.ts";
import { readRecipient } from "./rules/send.ts";
import {
  acknowledgeIntent,
  answerIntentNow,
  cancelIntentNow,
  getIntent,
  type Intent,
  type IntentList,
  listIntents,
  recordIntentWaiting,
  type SentIntent,
  sendIntentNow,
} from "./send-and-answer.ts";

type SpeakerInput = { readonly by?: string };

export type Intents = {
  /** Durable when it resolves. `human_approval` asks people, and is an approval as well. */
  send(intent: OutgoingIntent): Promise<SentIntent>;
  /** Waits, even for days. A timeout is returned as a result, and the intent goes on. */
  waitFor(id: string, options?: WaitOptions): Promise<Waited>;
  get(id: string): Promise<Intent>;
  /** Newest first, by status, recipient or sender. */
  list(page?: IntentPage): Promise<IntentList>;
  /** At most ten ids with this prefix. */
  find(beginning: string): Promise<readonly string[]>;
  /** The recipient has it: it is not delivered again. */
  acknowledge(id: string, speaker?: SpeakerInput): Promise<Intent>;
  /** The recipient waits for something, such as another intent. */
  waiting(id: string, said: SpeakerInput & { readonly on: string }): Promise<Intent>;
  /** The recipient completes it with data, or says why it failed. The first answer is final. */
  answer(id: string, answer: IntentAnswer): Promise<Intent>;
  /** The sender or a person withdraws it. */
  cancel(id: string, said: SpeakerInput & { readonly reason: string }): Promise<Intent>;
  /** Unacknowledged intents for an agent: existing ones first, then new ones as they arrive. */
  listen(agent: string, signal: AbortSignal): AsyncGenerator<IntentDelivery>;
};

const INTENT = "An intent";

export function checkRecipient(agent: string): string {
  const to = typeof agent === "string" ? readRecipient("", agent) : undefined;
  return (
    to ??
    rejectInput(
      `"${displayValue(agent)}" is nobody who is handed intents: write agent://<name>, service:<name> or person:<name>.`,
    )
  );
}

function checkSpeakerInput<Given extends SpeakerInput>(
  what: string,
  said: Given,
  fields: readonly string[],
): Given {
  checkIntentSpeaker(checkFields(what, said, ["by", ...fields]).by);
  return said;
}

export function intentMethods(open: RuntimeOpener): Intents {
  return {
    async send(intent) {
      const checked = checkOutgoingIntent(intent);
      refuseUnnamed(
        "An intent was sent",
        checked.requestId,
        "Give it a request id, or send it with ctx.send.",
      );
      return sendIntentNow(await open(), checked);
    },
    waitFor: async (id, options = {}) =>
      waitForIntent(await open(), checkId(INTENT, id), checkWaitOptions(options)),
    get: async (id) => getIntent(await open(), checkId(INTENT, id)),
    list: async (page = {}) => listIntents(await open(), checkIntentPage(page)),
    find: async (beginning) => findIds(await open(), "intents", checkId(INTENT, beginning)),
    acknowledge: async (id, speaker = {}) =>
      acknowledgeIntent(await open(), checkId(INTENT, id), checkSpeakerInput("Who has it", speaker, [])),
    async waiting(id, said) {
      const { on } = checkSpeakerInput("What it waits for", said, ["on"]);
      return recordIntentWaiting(await open(), checkId(INTENT, id), {
        ...said,
        on: checkId("What it waits for", on),
      });
    },
    answer: async (id, answer) =>
      answerIntentNow(await open(), checkId(INTENT, id), checkIntentAnswer(answer)),
    cancel: async (id, said) =>
      cancelIntentNow(await open(), checkId(INTENT, id), checkSpeakerInput("What is said", said, ["reason"])),
    async *listen(agent, signal) {
      checkSignal(signal);
      const to = checkRecipient(agent);
      yield* deliverIntentsTo(await open(), to, signal);
    },
  };
}
