/**
 * Channel: Microsoft Teams, by the address of a workflow ("when a webhook request is received"), which is a secret. An
 * Adaptive Card, with one button that opens a page.
 * - All texts are runs of a `RichTextBlock`: Teams reads Markdown in text blocks and fact sets, and not in runs.
 * - Teams takes messages of 28 KB: longer ones are cut further.
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

const MOST_BYTES = 28_000;
const MOST_FIELDS = 20;
/** Characters of each text; the first that makes a message of at most 28 KB is taken. */
const CUTS: readonly number[] = [3_000, 1_500, 700, 300, 120];

const run = (text: string, more: object = {}) => ({ type: "TextRun", text, ...more });
const lines = (...inlines: readonly object[]) => ({ type: "RichTextBlock", inlines });

function buildCard({ title, type, at, fields, words, link }: ChatMessage, most: number) {
  const shown = cutList(fields, MOST_FIELDS, (left) => ({ label: "…", value: `${left} more fields` }));
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    msteams: { width: "Full" },
    body: [
      lines(run(cutText(title, Math.min(most, 300)), { weight: "Bolder", size: "Large" })),
      ...shown.map(({ label, value }) =>
        lines(run(`${label}: `, { weight: "Bolder" }), run(cutText(value, Math.min(most, 500)))),
      ),
      ...words.flatMap(({ label, text }) => [
        lines(run(`${label}:`, { weight: "Bolder" })),
        lines(run(cutText(text, most), { fontType: "Monospace" })),
      ]),
      lines(run(`${type}, ${new Date(at).toISOString()}`, { isSubtle: true, size: "Small" })),
    ],
    actions: link === null ? [] : [{ type: "Action.OpenUrl", title: "Open in Holdpoint", url: link }],
  };
}

const teamsPayload = (message: ChatMessage, most: number) => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      contentUrl: null,
      content: buildCard(message, most),
    },
  ],
});

function fitted(message: ChatMessage) {
  const fits = (most: number) => Buffer.byteLength(JSON.stringify(teamsPayload(message, most))) <= MOST_BYTES;
  return teamsPayload(message, CUTS.find(fits) ?? 40);
}

export const teams = {
  kind: "teams",
  title: "Teams",
  address: "secret",
  example: "https://….logic.azure.com/workflows/…",
  hint: "The address of a workflow that starts when a webhook request is received.",
  target: z.object({ kind: z.literal("teams"), host: z.string() }),
  hosts: /\.(?:webhook\.office\.com|logic\.azure\.com|environment\.api\.powerplatform\.com)$/,
  send: (context, delivery) =>
    postToSecretAddress(context, delivery, fitted(chatMessage(delivery.content, context.settings.publicUrl))),
} as const satisfies Channel;
