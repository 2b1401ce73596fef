/**
 * Channel: Slack, by an incoming webhook whose address is a secret. Block Kit, with one button that opens a page.
 * - Texts of others are `plain_text` without emoji: Slack makes no mention, link or formatting of them.
 * - `text`, which notifications show, is mrkdwn: `&`, `<` and `>` are escaped, so it has no mention and no link either.
 */
import { z } from "zod";
import {
  type Channel,
  type ChatMessage,
  chatMessage,
  cutList,
  cutText,
  postToSecretAddress,
} from "./channel.ts";

// Limits of Block Kit.
const MOST_HEADER = 150;
const MOST_SECTION = 3_000;
const MOST_FIELD = 2_000;
const MOST_FIELDS = 10;
const MOST_TEXT = 3_000;

const plain = (text: string, most: number) => ({
  type: "plain_text",
  text: cutText(text, most),
  emoji: false,
});

const escapeMrkdwn = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function slackPayload({ title, type, at, fields, words, link }: ChatMessage) {
  const shown = cutList(fields, MOST_FIELDS, (left) => ({ label: "…", value: `${left} more fields` }));
  const sections = words.map(({ label, text }) => ({
    type: "section",
    text: plain(`${label}:\n${text}`, MOST_SECTION),
  }));
  return {
    // Escaping may make the text longer, so it is cut first.
    text: escapeMrkdwn(cutText(title, MOST_TEXT / 5)),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: "header", text: plain(title, MOST_HEADER) },
      ...(shown.length === 0
        ? []
        : [
            {
              type: "section",
              fields: shown.map(({ label, value }) => plain(`${label}\n${value}`, MOST_FIELD)),
            },
          ]),
      ...sections,
      { type: "context", elements: [plain(`${type}, ${new Date(at).toISOString()}`, MOST_FIELD)] },
      ...(link === null
        ? []
        : [
            {
              type: "actions",
              elements: [
                { type: "button", action_id: "open", text: plain("Open in Holdpoint", 75), url: link },
              ],
            },
          ]),
    ],
  };
}

export const slack = {
  kind: "slack",
  title: "Slack",
  address: "secret",
  example: "https://hooks.slack.com/services/…",
  hint: "The address of an incoming webhook.",
  target: z.object({ kind: z.literal("slack"), host: z.string() }),
  hosts: /^hooks\.slack(?:-gov)?\.com$/,
  send: (context, delivery) =>
    postToSecretAddress(
      context,
      delivery,
      slackPayload(chatMessage(delivery.content, context.settings.publicUrl)),
    ),
} as const satisfies Channel;
