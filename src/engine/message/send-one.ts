/** One attempt at one message, from what stands in the journal to what is written down about it. */

import { dropMessage, type Outcome, reportAttempt } from "../../core/message/message.ts";
import type { LiveMessage } from "../../core/message/message-state.ts";
import { addressOf } from "../../core/message/recipients.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { endpointStream, messageStream, ROSTER } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, readStateAt, runCommand } from "../../runtime/store-access.ts";

import { type Content, contentOf, linkTo } from "./content.ts";
import { handOver } from "./hand-intent.ts";
import { isMailAddress } from "./mail-address.ts";
import { mailText } from "./mail-text.ts";
import { sendMail } from "./send-mail.ts";
import { sendWebhook } from "./send-webhook.ts";
import type { DeliverySettings } from "./settings.ts";
import { type RenderCard, shownOf } from "./shown.ts";

export type Office = {
  readonly runtime: Runtime;
  readonly settings: DeliverySettings;
  readonly render: RenderCard;
};

type Dropped = { readonly kind: "dropped"; readonly reason: string };
type Job = { readonly id: string; readonly state: LiveMessage; readonly now: number };

async function mail(
  { runtime, settings, render }: Office,
  job: Job,
  content: Content,
): Promise<Outcome | Dropped> {
  const { id, state, now } = job;
  if (settings.mail === null) return { kind: "failed", status: null, problem: "no_smtp_server" };
  const to = addressOf(await readState(runtime, ROSTER), state.to ?? "");
  if (!isMailAddress(to)) return { kind: "dropped", reason: "there is no mail address for whom it is for" };
  const lines = render(await shownOf(runtime, content), now);
  const text = mailText(content, lines, linkTo(settings.publicUrl, content.ref));
  return sendMail(settings.mail, settings.timeoutMs, { ...text, message: id, to, at: content.at });
}

async function attempt(office: Office, job: Job): Promise<Outcome | Dropped | undefined> {
  const { runtime, settings } = office;
  const { id, state, now } = job;
  const endpoint = await readState(runtime, endpointStream(state.endpoint));
  if (endpoint.status === "none" || endpoint.status === "removed")
    return { kind: "dropped", reason: "its endpoint was removed" };
  if (endpoint.status === "off" && state.type !== "endpoint.tested") return undefined;
  const content = await contentOf(runtime, state);
  if (content === undefined) return { kind: "dropped", reason: "the entry that it tells of was erased" };
  const { target } = endpoint;
  if (target.kind === "mail") return mail(office, job, content);
  const { url } = target;
  return handOver(runtime, { endpoint, message: state, ref: content.ref }, () =>
    sendWebhook(runtime, settings, { message: id, endpoint, content, now, url }),
  );
}

/** What cannot be read or opened here may be elsewhere, or later. */
const FAILURES: readonly string[] = [
  "secret_missing",
  "store_corrupt",
  "unknown_event",
  "unknown_id",
  "key_unusable",
];

async function tried(office: Office, job: Job): Promise<Outcome | Dropped | undefined> {
  try {
    return await attempt(office, job);
  } catch (error) {
    if (!(error instanceof HoldpointError) || !FAILURES.includes(error.code)) throw error;
    return { kind: "failed", status: null, problem: error.code };
  }
}

function chanceOf({ random }: Pick<Runtime, "random">): number {
  const [high = 0, low = 0] = random(2);
  return (high * 256 + low) / 65_535;
}

/** Undefined when there was nothing to send any more. */
export async function sendOne(office: Office, id: string): Promise<Outcome | Dropped | undefined> {
  const { runtime } = office;
  const { state, now } = await readStateAt(runtime, messageStream(id));
  if (state.status !== "waiting") return undefined;
  const outcome = await tried(office, { id, state, now });
  if (outcome === undefined) return undefined;
  const report = { message: id, attempt: state.attempts + 1, chance: chanceOf(runtime) };
  await runCommand(runtime, {}, (draft) =>
    outcome.kind === "dropped"
      ? dropMessage(draft, { message: id, reason: outcome.reason })
      : reportAttempt(draft, { ...report, outcome }),
  );
  return outcome;
}
