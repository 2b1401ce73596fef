/**
 * Pages without the dashboard: the one behind a login link, and the card behind a link in a message; and the markup, style,
 * colours and logo that they share with the reference.
 * - Every value is text until it is marked as markup.
 * - A test keeps the colours equal to `dashboard/src/style/tokens.css`. Nothing is loaded from other servers.
 * - The part of a login link after # leaves the browser only in the one request that uses it.
 * - The card's page has no script, no form and loads nothing, so it can only be read. Every line is text of the card, escaped. A
 *   line too long for the window continues indented, so that no part of it can pass for a heading by Holdpoint.
 */
import { createHash } from "node:crypto";
import { contentPolicy } from "../reply.ts";
import type { Problem, RouteAnswer } from "../route.ts";
import { LISTED_PAGES } from "./listed-pages.ts";

/** HTML that is safe to send: every value is escaped text until it is marked as markup. */
export type Markup = { readonly html: string };

const ESCAPED: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (one) => ESCAPED[one] ?? "");

type MarkupPart = Markup | string | number | null | readonly MarkupPart[];

function htmlOf(part: MarkupPart): string {
  if (part === null) return "";
  if (typeof part === "object" && "html" in part) return part.html;
  return typeof part === "object" ? part.map(htmlOf).join("") : escaped(String(part));
}

export function html(texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return { html: texts.map((text, index) => text + htmlOf(parts[index] ?? null)).join("") };
}

/** Style of the reference page, light and dark. No third-party font, image or script. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5c6670; --line: #dde1e6; --ground: #ffffff; --wash: #f5f7f9; --accent: #0b5cad; --get: #0f6b4f; --post: #0b5cad; --put: #8a5a00; --delete: #a3262a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1; --line: #2e353c; --ground: #14181c; --wash: #1b2025; --accent: #78b6f2; --get: #5fd0a5; --post: #78b6f2; --put: #e0b25a; --delete: #f08a8d; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
code { font: 0.88em/1.4 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 52rem); gap: 3rem; max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 2rem 0; font-size: 0.9rem; }
nav h2 { margin: 1.4rem 0 0.3rem; font-size: 0.75rem; text-transform: uppercase; letter-spacing: 0.07em; color: var(--soft); }
nav ol { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 0.12rem 0; color: var(--ink); }
main { padding: 2rem 0 6rem; }
h1 { font-size: 1.9rem; margin: 0 0 0.5rem; letter-spacing: -0.01em; }
main > section > h2 { margin: 3rem 0 0; font-size: 1.25rem; text-transform: capitalize; }
.lead { color: var(--soft); max-width: 44rem; }
article { margin-top: 1.2rem; border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
article > header { padding: 0.85rem 1.1rem; background: var(--wash); border-bottom: 1px solid var(--line); }
article h3 { margin: 0; font-size: 1rem; font-weight: 600; display: flex; gap: 0.7rem; align-items: baseline; flex-wrap: wrap; }
article header p { margin: 0.25rem 0 0; }
.method { font: 700 0.78rem ui-monospace, Menlo, Consolas, monospace; min-width: 3.2rem; }
.get { color: var(--get); } .post { color: var(--post); } .put, .patch { color: var(--put); } .delete { color: var(--delete); }
.scope { color: var(--soft); font-size: 0.85rem; }
.parts { padding: 0.4rem 1.1rem 1rem; }
h4 { margin: 0.9rem 0 0.3rem; font-size: 0.75rem; text-transform: uppercase; letter-spacing: 0.06em; color: var(--soft); }
dl { margin: 0; } .fields .fields { margin-left: 1.1rem; border-left: 2px solid var(--line); padding-left: 0.8rem; }
dt { margin-top: 0.35rem; } dt .type { color: var(--soft); font-size: 0.85rem; margin-left: 0.5rem; }
dd { margin: 0; color: var(--soft); font-size: 0.9rem; }
.needed::after { content: " needed"; color: var(--delete); font-size: 0.78rem; }
@media (max-width: 56rem) { .page { grid-template-columns: minmax(0, 1fr); gap: 0; } nav { position: static; max-height: none; padding-bottom: 0; } }
`;

/** Colours of the dashboard, for pages without it; a test keeps them equal to `dashboard/src/style/tokens.css`. */
type Colours = { readonly [name: string]: string };

export const LIGHT_COLOURS = {
  ground: "#f7f5f0",
  surface: "#fffefb",
  sunken: "#efece4",
  line: "#e2ddd1",
  edge: "#8f8878",
  ink: "#1d1b16",
  soft: "#57524a",
  accent: "#1d1b16",
  "on-accent": "#fffefb",
  hold: "#8a4b00",
  stop: "#a6241d",
  "stop-wash": "#fbe4df",
} as const;

export const DARK_COLOURS = {
  ground: "#151412",
  surface: "#1e1c19",
  sunken: "#100f0d",
  line: "#35322c",
  edge: "#837c6e",
  ink: "#f1eee6",
  soft: "#b8b2a5",
  accent: "#f1eee6",
  "on-accent": "#151412",
  hold: "#f5b04c",
  stop: "#ff8f80",
  "stop-wash": "#3a1815",
} as const satisfies { readonly [name in keyof typeof LIGHT_COLOURS]: string };

const written = (scheme: string, colours: Colours): string =>
  `color-scheme: ${scheme}; ${Object.entries(colours)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(" ")}`;

/** The theme last chosen in the dashboard, else that of the system. */
const COLOURS = `
:root { ${written("light", LIGHT_COLOURS)} }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { ${written("dark", DARK_COLOURS)} } }
:root[data-theme="dark"] { ${written("dark", DARK_COLOURS)} }
`;

/** Runs in the page's head, before anything is drawn. */
const THEME_SCRIPT = `
const theme = localStorage.getItem("holdpoint.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
`;

const POSTS = `<rect class="post" x="3" y="4" width="6" height="24" rx="2"/><rect class="post" x="23" y="4" width="6" height="24" rx="2"/><circle class="point" cx="16" cy="16" r="4.5"/>`;

/** The logo, as the dashboard draws it: a point held between two posts. */
const LOGO = `<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">${POSTS}</svg>`;

/** The logo as a standalone image, for the browser tab. */
const LOGO_IMAGE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>.post{fill:${LIGHT_COLOURS.ink}}.point{fill:${LIGHT_COLOURS.hold}}@media(prefers-color-scheme:dark){.post{fill:${DARK_COLOURS.ink}}.point{fill:${DARK_COLOURS.hold}}}</style>${POSTS}</svg>`;

const LOGIN_STYLE = `${COLOURS}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 0.9375rem/1.5 ui-sans-serif, system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; padding: clamp(1.25rem, 6vw, 2.25rem); background: var(--surface); border: 1px solid var(--line); border-radius: 14px; }
header { display: flex; align-items: center; gap: 0.625rem; font-weight: 600; font-size: 1.125rem; }
.post { fill: var(--ink); } .point { fill: var(--hold); }
h1 { margin: 1.75rem 0 0.375rem; font-size: 1.5rem; line-height: 1.2; letter-spacing: -0.01em; }
p { margin: 0; color: var(--soft); }
label { display: block; margin-top: 1.25rem; font-weight: 600; }
input { display: block; width: 100%; min-height: 2.75rem; margin-top: 0.375rem; padding: 0 0.75rem; font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--edge); border-radius: 8px; }
button { width: 100%; min-height: 2.75rem; margin-top: 1.25rem; padding: 0 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 8px; cursor: pointer; }
button:hover { opacity: 0.9; } button:disabled { opacity: 0.5; cursor: default; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
#said:not(:empty) { margin-top: 1.25rem; color: var(--ink); overflow-wrap: anywhere; }
#said[role="alert"]:not(:empty) { padding: 0.75rem 0.875rem; color: var(--stop); background: var(--stop-wash); border-radius: 8px; }
footer { margin-top: 1.75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); font-size: 0.8438rem; line-height: 1.45; }
code { font: 0.92em/1.4 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; color: var(--ink); background: var(--sunken); padding: 0.1em 0.3em; border-radius: 4px; white-space: nowrap; }
[hidden] { display: none; }
`;

const NAMES = [
  ...["in-doubt", "policies", "agents", "activity", "kill-switch", "settings", "more"],
  ...LISTED_PAGES,
].join("|");
/** A page of this server. Nothing that a browser could take for an address on another server. */
const PAGE = new RegExp(
  String.raw`^/(?:(?:approvals|workflows|actions)(?:/[\w.:~%-]{1,600}(?:/plain)?)?|${NAMES})?(?:\?[\w.~%=&+-]{0,1000})?$`,
);

const LOGIN_SCRIPT = `
const form = document.querySelector("form");
const field = document.querySelector("label");
const input = document.querySelector("input");
const button = document.querySelector("button");
const said = document.querySelector("#said");
const lead = document.querySelector("#lead");
const asked = new URLSearchParams(location.search);
const to = asked.get("to") ?? "/";
const next = ${PAGE}.test(to) ? to : "/";
let opened = location.hash.slice(1);
history.replaceState(null, "", location.pathname + location.search);
if (opened !== "") {
  field.hidden = true;
  lead.textContent = "This link logs you in, once.";
  button.focus();
} else {
  if (asked.has("out")) lead.textContent = "You are not logged in any more. A new link logs you in, and leads back to where you were.";
  input.focus();
}
function fail(text, link = "") {
  opened = "";
  input.value = link;
  field.hidden = false;
  lead.textContent = "With the link that you were given.";
  button.disabled = false;
  said.setAttribute("role", "alert");
  said.textContent = text;
  input.setAttribute("aria-invalid", "true");
  input.focus();
  input.select();
}
async function use(link) {
  const answer = await fetch("/api/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ link }) });
  const body = await answer.json();
  if (answer.status === 401) return fail(body.detail + " It works once, and not for long. Ask for another one, and paste it above.");
  if (!answer.ok) return fail(body.detail + " " + body.next);
  said.textContent = "Logged in as " + body.person.replace(/^person:/, "") + ".";
  location.replace(next);
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const link = opened || input.value.trim().replace(/^.*#/, "");
  if (link === "") return fail("There is no link here: paste the one that you were given.");
  said.setAttribute("role", "status");
  said.textContent = "";
  input.removeAttribute("aria-invalid");
  button.disabled = true;
  await use(link).catch(() => fail("The server did not answer. Try again; if the link is used up by then, ask for another one.", link));
});
`;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");

export const LOGIN_PAGE_HEADERS = {
  "content-security-policy": contentPolicy(
    `style-src 'sha256-${hashOf(LOGIN_STYLE)}'`,
    `script-src 'sha256-${hashOf(THEME_SCRIPT)}' 'sha256-${hashOf(LOGIN_SCRIPT)}'`,
    "connect-src 'self'",
    "img-src data:",
  ),
};

const raw = (text: string): Markup => ({ html: text });
const ICON = `data:image/svg+xml,${encodeURIComponent(LOGO_IMAGE)}`;
const LOGIN_HEAD = raw(
  `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="icon" href="${ICON}"><title>Log in · Holdpoint</title><style>${LOGIN_STYLE}</style><script>${THEME_SCRIPT}</script>`,
);

export function loginPage(): string {
  return html`<!doctype html><html lang="en"><head>${LOGIN_HEAD}</head><body><main><header>${raw(LOGO)}Holdpoint</header><h1>Log in</h1><p id="lead">With the link that you were given.</p><form novalidate><label>Your link<input type="text" name="link" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="said"></label><button>Log in</button><p id="said" role="status"></p></form><footer><p>A link works once. Whoever looks after this server makes one for you: <code>holdpoint login-link &lt;you&gt;</code>. If you started the server yourself, it has printed one.</p></footer><noscript><p>This page needs a script to use the link.</p></noscript></main>${raw(`<script>${LOGIN_SCRIPT}</script>`)}</body></html>
`.html;
}

const CARD_STYLE = `${REFERENCE_STYLE}
.sheet { max-width: 56rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
.sheet h1 { font-size: 1.4rem; } .sheet h2 { margin: 2rem 0 0.5rem; font-size: 1.1rem; }
.lines { margin: 1rem 0; padding: 1rem 1.2rem; border: 1px solid var(--line); border-radius: 10px; background: var(--wash); font: 0.85rem/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
.lines span { display: block; min-height: 1.5em; white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 6ch; text-indent: -6ch; direction: ltr; unicode-bidi: isolate-override; }
.lines .heading { font-weight: 700; }
`;
const CARD_HEADERS = { "content-security-policy": contentPolicy(`style-src 'sha256-${hashOf(CARD_STYLE)}'`) };

function sheet(status: number, title: string, body: Markup, head: Markup | null = null): RouteAnswer {
  const style: Markup = { html: `<style>${CARD_STYLE}</style>` };
  const text =
    html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${head}<title>Holdpoint: ${title}</title>${style}</head><body><main class="sheet">${body}</main></body></html>
`.html;
  return { status, text, type: "text/html; charset=utf-8", headers: CARD_HEADERS };
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
  return sheet(200, title, html`${linesOf(lines)}${how}`);
}

/** A missing card and a card of another tenant get the same page. */
export function problemPage({ title, status, detail, next }: Problem): RouteAnswer {
  return sheet(status, title, html`<h1>${title}</h1><p>${detail}</p><p class="lead">${next}</p>`);
}

/**
 * Browsers do not send the session cookie with a link from another site. So the page reloads itself once: that request
 * comes from its own site.
 */
export function strangerPage(path: string): RouteAnswer {
  const again = `${path}?again=1`;
  const head = html`<meta http-equiv="refresh" content="0; url=${again}">`;
  const body = html`<h1>Who are you?</h1><p>This page is for people who are logged in. <a href="${again}">Go on</a></p>`;
  return sheet(401, "log in", body, head);
}
