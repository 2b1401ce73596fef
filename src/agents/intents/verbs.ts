/** Implementation of the verbs of intents, and the library's methods that wait for intents. */

import { plainJson } from "../../effects/arguments.ts";
import { refuseUnnamed } from "../../effects/call-context.ts";
import type { Library } from "../../kernel/contract.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkId, checkSignal, rejectInput } from "../../kernel/fields.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { refusalData } from "../../kernel/refusals.ts";
import { intentStream, ROSTER } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { findIds, rowPage, rowSummary } from "../../runtime/lists.ts";
import type { Runtime, RuntimeOpener } from "../../runtime/runtime.ts";
import { redactJson, redactText, resolveSecrets } from "../../runtime/secrets.ts";
import { bindLibrary, capability, preparedVerb, readVerb } from "../../runtime/verb.ts";
import type { ViewRow } from "../../stores/store.ts";
import { type Intent, type IntentPage, type IntentSummary, intents } from "./contract.ts";
import { deliverIntentsTo, type IntentDelivery, type Waited, waitForIntent } from "./delivery.ts";
import {
  answerIntent,
  cancelIntent,
  type IntentMove,
  markAcknowledged,
  markWaiting,
} from "./rules/answer.ts";
import { readRecipient, sendIntent } from "./rules/send.ts";
import {
  checkWaitOptions,
  getIntent,
  type IntentWaitOptions,
  prepareIntent,
  sentOrThrow,
  unknownIntent,
} from "./send-and-answer.ts";

/** Senders write `agent://name`. */
const bucketFor = (address: string): string =>
  address.startsWith("agent://") ? (readRecipient("", address) ?? address) : address;

/** The narrowest list that contains the requested intents. */
function viewFor({ to, from, status }: IntentPage): { readonly view: string; readonly bucket?: string } {
  if (to !== undefined) return { view: "intents_to", bucket: bucketFor(to) };
  if (from !== undefined) return { view: "intents_from", bucket: bucketFor(from) };
  return { view: "intents", ...(status === undefined ? {} : { bucket: status }) };
}

function matchesPage({ data }: ViewRow, { to, from, status }: IntentPage): boolean {
  const has = (field: string, wanted: string | undefined) => wanted === undefined || data[field] === wanted;
  const address = (name: string | undefined) => (name === undefined ? undefined : bucketFor(name));
  return has("to", address(to)) && has("from", address(from)) && has("status", status);
}

type Speaking = { readonly id: string; readonly by?: string | undefined };
type Speaker = Via & { readonly intent: string; readonly by: string };

/** A move of the recipient or the sender. `prepare` makes the command of the input. */
const moveVerb = <In extends Speaking, Command extends Speaker>(
  prepare: (runtime: Runtime, speaker: Speaker, input: In) => Promise<Command> | Command,
  rule: (draft: Draft, command: Command) => Need | IntentMove,
) =>
  preparedVerb(
    async (runtime: Runtime, input: In, how: Via) => {
      const speaker = { intent: input.id, by: input.by ?? runtime.agent, ...channelField(how) };
      const needs = { write: [intentStream(input.id)], read: [ROSTER] };
      return { input: await prepare(runtime, speaker, input), needs };
    },
    rule,
    (runtime, answer, { intent: id }): Promise<Intent> => {
      if (answer.kind === "unknown") throw unknownIntent(id);
      if (answer.kind === "refused")
        throw new HoldpointError(answer.code, `Nothing became of it: ${answer.reason} (${id}).`, {
          data: refusalData("request", answer.isRecorded, "the intent did not change"),
          details: { intent: id, status: answer.status },
        });
      return getIntent(runtime, id);
    },
  );

/** Answers are stored in clear, so the values of the payload's secrets are redacted from them. */
async function payloadSecrets(runtime: Runtime, id: string): Promise<ReadonlyMap<string, string>> {
  const { payload } = await getIntent(runtime, id);
  return resolveSecrets(runtime.secrets, payload).catch(() => new Map<string, string>());
}

export const intentVerbs = capability(intents, {
  list: readVerb(async (runtime, { limit = 100, after, ...page }) => {
    const list = { ...viewFor(page), kind: "intent", prefix: "int" } as const;
    const { order } = page;
    const { rows, next } = await rowPage(runtime, { ...list, order, limit, after }, (row) =>
      matchesPage(row, page),
    );
    return { items: rows.map((row) => rowSummary(row) as unknown as IntentSummary), next };
  }),
  get: readVerb((runtime, { id }) => getIntent(runtime, id)),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "intents", beginning)),
  send: preparedVerb(
    async (runtime, { via: _via, ...given }, how) => {
      refuseUnnamed("An intent was sent", given.requestId, "Give it a request id, or send it with ctx.send.");
      const to = readRecipient(given.intentType, given.toAgent) ?? given.toAgent;
      return prepareIntent(runtime, { ...given, to, ...channelField(how) });
    },
    sendIntent,
    async (runtime, answer, sending) => {
      const { id, isKnown } = sentOrThrow(runtime, answer, sending);
      return { ...(await getIntent(runtime, id)), isKnown };
    },
  ),
  acknowledge: moveVerb((_, speaker) => speaker, markAcknowledged),
  waiting: moveVerb(
    (_, speaker, { on }: Speaking & { readonly on: string }) => ({ ...speaker, on }),
    markWaiting,
  ),
  answer: moveVerb(
    async (
      runtime,
      speaker,
      { id, data, failed }: Speaking & { readonly data?: unknown; readonly failed?: string | undefined },
    ) => {
      const known = await payloadSecrets(runtime, id);
      return failed === undefined
        ? { ...speaker, status: "completed" as const, data: redactJson(plainJson(data ?? null), known) }
        : { ...speaker, status: "failed" as const, reason: redactText(failed, known) };
    },
    answerIntent,
  ),
  cancel: moveVerb(
    async (runtime, speaker, { id, reason }: Speaking & { readonly reason: string }) => ({
      ...speaker,
      reason: redactText(reason, await payloadSecrets(runtime, id)),
    }),
    cancelIntent,
  ),
});

export function checkRecipient(agent: string): string {
  const to = typeof agent === "string" ? readRecipient("", agent) : undefined;
  return (
    to ??
    rejectInput(
      `"${displayValue(agent)}" cannot receive intents: write agent://<name>, service:<name> or person:<name>.`,
    )
  );
}

export type Intents = Library<typeof intents> & {
  /** Waits, even for days, in any process. A timeout is returned as a result, and the intent goes on. */
  waitFor(id: string, options?: IntentWaitOptions): Promise<Waited>;
  /** Unacknowledged intents for an agent: existing ones first, then new ones as they arrive. */
  listen(agent: string, signal: AbortSignal): AsyncGenerator<IntentDelivery>;
};

export function intentMethods(open: RuntimeOpener): Intents {
  return {
    ...bindLibrary(open, intentVerbs),
    waitFor: async (id, options = {}) =>
      waitForIntent(await open(), checkId("An intent", id), checkWaitOptions(options)),
    async *listen(agent, signal) {
      checkSignal(signal);
      const to = checkRecipient(agent);
      yield* deliverIntentsTo(await open(), to, signal);
    },
  };
}
