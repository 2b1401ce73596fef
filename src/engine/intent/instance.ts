/** What an instance offers about intents. */

import { recipientOf } from "../../core/intent/address.ts";
import { refuseUnnamed } from "../../effects/call-context.ts";
import { checkFields, checkId, checkSignal, rejectInput } from "../../kernel/fields.ts";
import { displayValue } from "../../kernel/text.ts";
import { findIds } from "../../runtime/lists.ts";
import type { RuntimeOpener } from "../../runtime/runtime.ts";

import {
  checkAnswer,
  checkIntentPage,
  checkOutgoing,
  checkSpeaker,
  checkWait,
  type IntentAnswer,
  type IntentPage,
  type OutgoingIntent,
  type WaitOptions,
} from "./check-intent.ts";
import {
  acknowledgeIntent,
  answerNow,
  cancelNow,
  getIntent,
  type Intent,
  type IntentList,
  intentWaits,
  listIntents,
} from "./intents.ts";
import { type IntentDelivery, listenFor } from "./listen.ts";
import { type SentIntent, sendNow } from "./send.ts";
import { type Waited, waitForIntent } from "./wait.ts";

type By = { readonly by?: string };

export type Intents = {
  /** It is durable when this answers. `human_approval` asks people, and is an approval as well. */
  send(intent: OutgoingIntent): Promise<SentIntent>;
  /** Waits hours or days. Running out of time is an answer, and the intent goes on. */
  waitFor(id: string, options?: WaitOptions): Promise<Waited>;
  get(id: string): Promise<Intent>;
  /** Newest first, by status, recipient or sender. */
  list(page?: IntentPage): Promise<IntentList>;
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** The recipient has it: it is not handed over again. */
  acknowledge(id: string, speaker?: By): Promise<Intent>;
  /** The recipient waits for something, such as another intent. */
  waiting(id: string, said: By & { readonly on: string }): Promise<Intent>;
  /** The recipient completes it with data, or says why it failed. The first answer stands. */
  answer(id: string, answer: IntentAnswer): Promise<Intent>;
  /** The sender takes it back, or a person. */
  cancel(id: string, said: By & { readonly reason: string }): Promise<Intent>;
  /** What is sent to an agent, until it is acknowledged: what is there first, then as it comes. */
  listen(agent: string, signal: AbortSignal): AsyncGenerator<IntentDelivery>;
};

const INTENT = "An intent";

export function checkRecipient(agent: string): string {
  const to = typeof agent === "string" ? recipientOf("", agent) : undefined;
  return (
    to ??
    rejectInput(
      `"${displayValue(agent)}" is nobody who is handed intents: write agent://<name>, service:<name> or person:<name>.`,
    )
  );
}

function checkSaid<Given extends By>(what: string, said: Given, fields: readonly string[]): Given {
  checkSpeaker(checkFields(what, said, ["by", ...fields]).by);
  return said;
}

export function intentsOf(open: RuntimeOpener): Intents {
  return {
    async send(intent) {
      const checked = checkOutgoing(intent);
      refuseUnnamed(
        "An intent was sent",
        checked.requestId,
        "Give it a request id, or send it with ctx.send.",
      );
      return sendNow(await open(), checked);
    },
    waitFor: async (id, options = {}) => waitForIntent(await open(), checkId(INTENT, id), checkWait(options)),
    get: async (id) => getIntent(await open(), checkId(INTENT, id)),
    list: async (page = {}) => listIntents(await open(), checkIntentPage(page)),
    find: async (beginning) => findIds(await open(), "intents", checkId(INTENT, beginning)),
    acknowledge: async (id, speaker = {}) =>
      acknowledgeIntent(await open(), checkId(INTENT, id), checkSaid("Who has it", speaker, [])),
    async waiting(id, said) {
      const { on } = checkSaid("What it waits for", said, ["on"]);
      return intentWaits(await open(), checkId(INTENT, id), {
        ...said,
        on: checkId("What it waits for", on),
      });
    },
    answer: async (id, answer) => answerNow(await open(), checkId(INTENT, id), checkAnswer(answer)),
    cancel: async (id, said) =>
      cancelNow(await open(), checkId(INTENT, id), checkSaid("What is said", said, ["reason"])),
    async *listen(agent, signal) {
      checkSignal(signal);
      const to = checkRecipient(agent);
      yield* listenFor(await open(), to, signal);
    },
  };
}
