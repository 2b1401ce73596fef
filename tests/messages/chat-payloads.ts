/** What Slack and Teams take: messages of their receivers, and checks of their shape. */
import assert from "node:assert/strict";
import type { Got } from "./receiver.ts";

export const HOSTILE =
  "<!channel> <https://evil.example|Approve> & [ok](https://evil.example) *x* :tada: \u202eneP";

type PlainText = { readonly type: string; readonly text: string; readonly emoji: boolean };
type Block = {
  readonly type: string;
  readonly text?: PlainText;
  readonly fields?: readonly PlainText[];
  readonly elements?: readonly (PlainText & { readonly url?: string })[];
};
type SlackMessage = { readonly text: string; readonly blocks: readonly Block[] };
export const slackIn = ({ body }: Got): SlackMessage => JSON.parse(body);

function isPlain(text: PlainText, most: number): void {
  assert.equal(text.type, "plain_text");
  assert.equal(text.emoji, false);
  assert.ok(text.text.length >= 1 && text.text.length <= most, `${text.text.length} of ${most}`);
}

function checkBlock({ type, text, fields = [], elements = [] }: Block): void {
  assert.ok(["header", "section", "context", "actions"].includes(type), type);
  if (text !== undefined) isPlain(text, type === "header" ? 150 : 3_000);
  assert.ok(fields.length <= 10);
  for (const field of fields) isPlain(field, 2_000);
  if (type === "context") for (const element of elements) isPlain(element, 2_000);
  if (type === "actions") assert.equal(elements.length, 1);
}

/** The limits that Slack documents for Block Kit; in `text`, which is mrkdwn, no mention and no link. */
export function checkSlack({ text, blocks }: SlackMessage): void {
  assert.ok(text.length >= 1 && text.length <= 4_000);
  assert.doesNotMatch(text, /[<>]|&(?!amp;|lt;|gt;)/, "no mention and no link in what notifies");
  assert.ok(blocks.length >= 1 && blocks.length <= 50);
  for (const block of blocks) checkBlock(block);
}

export const blockTexts = ({ blocks }: SlackMessage): readonly string[] =>
  blocks
    .flatMap(({ text, fields = [] }) => [...(text === undefined ? [] : [text]), ...fields])
    .map(({ text }) => text);

type Run = { readonly type: string; readonly text: string };
type TeamsMessage = {
  readonly type: string;
  readonly attachments: readonly {
    readonly contentType: string;
    readonly content: {
      readonly type: string;
      readonly version: string;
      readonly body: readonly { readonly type: string; readonly inlines: readonly Run[] }[];
      readonly actions: readonly { readonly type: string; readonly url: string }[];
    };
  }[];
};
export const teamsIn = ({ body }: Got): TeamsMessage => JSON.parse(body);

export function checkTeams(got: Got): readonly string[] {
  assert.ok(Buffer.byteLength(got.body) <= 28 * 1_024, "Teams takes 28 KB");
  const { type, attachments } = teamsIn(got);
  assert.equal(type, "message");
  const [attachment] = attachments;
  assert.equal(attachment?.contentType, "application/vnd.microsoft.card.adaptive");
  const { content } = attachment;
  assert.equal(content.type, "AdaptiveCard");
  const runs = content.body.flatMap(({ type: block, inlines }) => {
    assert.equal(block, "RichTextBlock", "no text that Teams reads as Markdown");
    return inlines;
  });
  for (const run of runs) assert.equal(run.type, "TextRun");
  return runs.map(({ text }) => text);
}
