/**
 * The page behind a link in a message: a card as the terminal prints it, and how to decide. It has no script, no form
 * and loads nothing, so it can only be read.
 *
 * - Every line is text of the card, escaped. A line too long for the window continues indented, so that no part of it
 *   can pass for a heading by Holdpoint.
 */
import { createHash } from "node:crypto";
import type { Problem } from "../problem.ts";
import { contentPolicy } from "../reply.ts";
import type { RouteAnswer } from "../route.ts";
import { html, type Markup, REFERENCE_STYLE } from "./html-theme.ts";

const OWN_STYLE = `${REFERENCE_STYLE}
.sheet { max-width: 56rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
.sheet h1 { font-size: 1.4rem; } .sheet h2 { margin: 2rem 0 0.5rem; font-size: 1.1rem; }
.lines { margin: 1rem 0; padding: 1rem 1.2rem; border: 1px solid var(--line); border-radius: 10px; background: var(--wash); font: 0.85rem/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
.lines span { display: block; min-height: 1.5em; white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 6ch; text-indent: -6ch; direction: ltr; unicode-bidi: isolate-override; }
.lines .heading { font-weight: 700; }
`;
const styleHash = createHash("sha256").update(OWN_STYLE).digest("base64");
const HEADERS = { "content-security-policy": contentPolicy(`style-src 'sha256-${styleHash}'`) };

function pageOf(status: number, title: string, body: Markup, head: Markup | null = null): RouteAnswer {
  const style: Markup = { html: `<style>${OWN_STYLE}</style>` };
  const text =
    html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${head}<title>Holdpoint: ${title}</title>${style}</head><body><main class="sheet">${body}</main></body></html>
`.html;
  return { status, text, type: "text/html; charset=utf-8", headers: HEADERS };
}

/** Only Holdpoint's own lines start at the margin. Text from agents and people is indented. */
const isHeading = (line: string): boolean => line !== "" && !line.startsWith(" ");

const linesOf = (lines: readonly string[]): Markup =>
  html`<div class="lines">${lines.map((line) => html`<span${isHeading(line) ? html` class="heading"` : null}>${line}</span>`)}</div>`;

export type Decidable = { readonly id: string; readonly binding: string; readonly isQuestion: boolean };

function howToDecide({ id, binding, isQuestion }: Decidable): Markup {
  const votes = `POST /api/approvals/${id}/votes`;
  const answer = isQuestion ? `, "edit": …the answer…` : "";
  return html`<h2>How to decide</h2><p>Nothing is decided on this page, nor by opening it. In a terminal that is logged in (<code>npx holdpoint login</code>), with the commands at the end of the card. Over HTTP, with your session or key:</p>${linesOf(
    [
      votes,
      `  { "decision": "approve"${answer}, "binding": "${binding}" }`,
      `  { "decision": "reject", "reason": "…", "binding": "${binding}" }`,
    ],
  )}<p>The binding makes sure that the decision is on what you see here.</p>`;
}

type CardFacts = {
  readonly title: string;
  readonly lines: readonly string[];
  /** null if there is nothing to decide. */
  readonly decide: Decidable | null;
};

export function cardPage({ title, lines, decide }: CardFacts): RouteAnswer {
  const how = decide === null ? null : howToDecide(decide);
  return pageOf(200, title, html`${linesOf(lines)}${how}`);
}

/** A missing card and a card of another tenant get the same page. */
export function problemPage({ title, status, detail, next }: Problem): RouteAnswer {
  return pageOf(status, title, html`<h1>${title}</h1><p>${detail}</p><p class="lead">${next}</p>`);
}

/**
 * Browsers do not send the session cookie with a link from another site. So the page reloads itself once: that request
 * comes from its own site.
 */
export function strangerPage(path: string): RouteAnswer {
  const again = `${path}?again=1`;
  const head = html`<meta http-equiv="refresh" content="0; url=${again}">`;
  const body = html`<h1>Who are you?</h1><p>This page is for people who are logged in. <a href="${again}">Go on</a></p>`;
  return pageOf(401, "log in", body, head);
}
