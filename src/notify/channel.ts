/**
 * The port of a channel: how messages get to one kind of target. A channel is one file, and a line in `channels.ts`.
 * Also the parts that chats share: what a message says, in plain texts that are cut to a chat's limits.
 * - Nothing that an agent, a tool or a person wrote is formatted, linked or expanded: it is shown as it is.
 * - What is cut says how much.
 */
import type { z } from "zod";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { visible, visibleJson } from "../kernel/text.ts";
import {
  type DeliveryContext,
  type DroppedOutcome,
  linkToPage,
  type MessageContent,
  type SendJob,
} from "./content.ts";
import { postOutcome, postSafely } from "./post.ts";
import type { SendOutcome } from "./rules/message.ts";
import type { DeliverySettings } from "./settings.ts";
import { type EndpointTarget, type LiveEndpoint, signingSecretsAt } from "./stream.ts";

export type Delivery = {
  readonly job: SendJob;
  readonly endpoint: LiveEndpoint;
  readonly content: MessageContent;
};

export type Channel = {
  /** Also the scheme of an address by name: `slack://prod`. */
  readonly kind: EndpointTarget["kind"];
  readonly title: string;
  /** An address that is shown, one that is a secret itself, or people. */
  readonly address: "shown" | "secret" | "people";
  /** What the journal and lists hold of a target. */
  readonly target: z.ZodType<EndpointTarget>;
  /** Hosts whose addresses are this channel's unless another kind is named. */
  readonly hosts?: RegExp;
  /** Default: always. */
  readonly canSend?: (settings: DeliverySettings) => boolean;
  send(context: DeliveryContext, delivery: Delivery): Promise<SendOutcome | DroppedOutcome>;
};

/** A message for people in a chat, each part as plain text. */
export type ChatMessage = {
  readonly title: string;
  readonly type: string;
  readonly at: number;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  /** What an agent or a person wrote, with a label that says so. */
  readonly words: readonly { readonly label: string; readonly text: string }[];
  /** Opens a page. It decides nothing. */
  readonly link: string | null;
};

const FIELDS: readonly (readonly [name: string, label: string])[] = [
  ["agent", "Agent"],
  ["tool", "Tool"],
  ["effect_class", "Effect class"],
  ["requester", "On behalf of"],
  ["rule", "Rule"],
  ["reason", "Reason"],
  ["by", "By"],
  ["decision_reason", "Reason of the decision"],
  ["decide_by", "Decide by"],
  ["execute_by", "Execute by"],
  ["stage", "Stage"],
  ["monitor", "Monitor"],
  ["severity", "Severity"],
  ["subject", "Subject"],
  ["name", "Name"],
  ["workflow", "Workflow"],
  ["intent_type", "Type"],
  ["from", "From"],
  ["to", "To"],
  ["deadline", "Deadline"],
  ["status", "Status"],
  ["code", "Code"],
  ["scope", "Scope"],
  ["budget", "Budget"],
  ["amount", "Amount"],
];

const WORDS: readonly (readonly [name: string, label: string])[] = [
  ["rationale", "The agent says"],
  ["arguments", "Arguments, as the agent gave them"],
  ["undo", "Undo, as the agent named it"],
  ["comment", "Comment, as it was written"],
  ["payload", "Payload, as its sender gave it"],
  ["says", "The monitor says"],
  ["figures", "Figures"],
  ["data", "Answer, as it was given"],
  ["result", "Result"],
];

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

function fieldText(value: Json): string {
  if (Array.isArray(value)) return value.map(fieldText).join(", ");
  return typeof value === "string" ? visible(value) : visible(JSON.stringify(value));
}

/** Each line is marked, so that it cannot be taken for ours. */
function quotedText(value: Json): string {
  const lines =
    typeof value === "string"
      ? value.split("\n").map(visible)
      : visibleJson(JSON.stringify(value, null, 2)).split("\n");
  return lines.map((line) => `│ ${line}`).join("\n");
}

export function chatMessage(content: MessageContent, publicUrl: string | null): ChatMessage {
  const { title, type, at, ref, data } = content;
  const given = ([name]: readonly [string, string]) => !isEmpty(data[name]);
  const { approvers } = data;
  const asked = isJsonObject(approvers) ? (approvers["from"] ?? null) : null;
  return {
    title,
    type,
    at,
    fields: [
      ...FIELDS.filter(given).map(([name, label]) => ({ label, value: fieldText(data[name] ?? null) })),
      ...(isEmpty(asked) ? [] : [{ label: "Asked", value: fieldText(asked) }]),
    ],
    words: WORDS.filter(given).map(([name, label]) => ({ label, text: quotedText(data[name] ?? null) })),
    link: linkToPage(publicUrl, ref),
  };
}

/** At most so many UTF-16 units, with the number of those that are left out. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = (left: number) => `… (${left} more characters)`;
  const kept = most - note(text.length).length;
  // A surrogate pair is kept whole or left out.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(kept - 1)) ? kept - 1 : kept;
  return `${text.slice(0, end)}${note(text.length - end)}`;
}

/** At most so many items, with a last one that says how many are left out. */
export function cutList<Item>(
  items: readonly Item[],
  most: number,
  rest: (left: number) => Item,
): readonly Item[] {
  if (items.length <= most) return items;
  return [...items.slice(0, most - 1), rest(items.length - most + 1)];
}

/** Posts to the address that is the endpoint's secret. */
export async function postToSecretAddress(
  { runtime, settings }: DeliveryContext,
  { job, endpoint }: Delivery,
  payload: unknown,
): Promise<SendOutcome> {
  const [handle] = signingSecretsAt(endpoint, job.now);
  if (handle === undefined) return { kind: "failed", status: null, problem: "secret_missing" };
  const url = await runtime.secrets.resolve(handle);
  const headers = { "content-type": "application/json", "user-agent": "holdpoint" };
  const answer = await postSafely({ ...settings, url, headers, body: JSON.stringify(payload) });
  return postOutcome(answer, job.now);
}
