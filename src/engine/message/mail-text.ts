/**
 * The two texts of a mail. Everything in them that is not ours is text and nothing else.
 *
 * Y1. No address that a stranger wrote can be clicked on: `://` and `www.` are written out in escapes, and in HTML what
 *     programs take for the middle of an address stands in an element of its own.
 * Y2. What is cut is counted.
 */
import type { Content } from "./content.ts";

export type MailText = { readonly subject: string; readonly text: string; readonly html: string };

/** A mail that is larger is refused by many servers. */
const MOST_CHARACTERS = 200_000;

/** Backslashes in the lines are doubled, so that nobody can write these escapes but us. */
const unlinked = (line: string): string =>
  line.replaceAll("://", ":\\u002f\\u002f").replaceAll(/www\./gi, (found) => `${found.slice(0, 3)}\\u002e`);

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? "");

const inHtml = (line: string): string =>
  escaped(line).replaceAll(/[.@:]/g, (found) => `<span>${found}</span>`);

function cutLines(lines: readonly string[]): readonly string[] {
  let used = 0;
  const end = lines.findIndex((line) => {
    used += line.length + 1;
    return used > MOST_CHARACTERS;
  });
  if (end === -1) return lines;
  const left = lines.slice(end).reduce((sum, line) => sum + line.length + 1, 0);
  return [
    ...lines.slice(0, end),
    `… ${lines.length - end} more lines, ${left} characters: open it to see them`,
  ];
}

const NOTHING = "Nothing is decided by opening the page; it asks you first.";

/** `lines` are visible already; `link` is ours. */
export function mailText(
  { title, type, at }: Pick<Content, "title" | "type" | "at">,
  lines: readonly string[],
  link: string | null,
): MailText {
  const head = [`${unlinked(title)}`, `${type}, ${new Date(at).toISOString()}`];
  const card = cutLines(lines).map(unlinked);
  const foot = link === null ? [] : ["", `Open: ${link}`, NOTHING];
  const shown = [...head, "", ...card].map(inHtml).join("\n");
  const anchor =
    link === null ? "" : `<p><a href="${escaped(link)}">Open in Holdpoint</a><br>${escaped(NOTHING)}</p>`;
  return {
    subject: `[Holdpoint] ${unlinked(title)}`,
    text: [...head, "", ...card, ...foot, ""].join("\n"),
    html: `<!doctype html><html><head><meta charset="utf-8"></head><body>${anchor}<pre>${shown}</pre></body></html>`,
  };
}
