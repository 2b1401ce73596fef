/** The page behind a login link. The part after # leaves the browser only in the one request that uses it. */
import { createHash } from "node:crypto";
import { contentPolicy } from "../reply.ts";
import { COLOURS, html, LOGO, LOGO_IMAGE, type Markup, THEME_SCRIPT } from "./html-theme.ts";
import { LISTED_PAGES } from "./listed-pages.ts";

const STYLE = `${COLOURS}
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
  ...["in-doubt", "policies", "agents", "activity", "nodes", "kill-switch", "settings", "more"],
  ...LISTED_PAGES,
].join("|");
/** A page of this server. Nothing that a browser could take for an address on another server. */
const PAGE = new RegExp(
  String.raw`^/(?:(?:approvals|workflows|actions)(?:/[\w.:~%-]{1,600}(?:/plain)?)?|${NAMES})?(?:\?[\w.~%=&+-]{0,1000})?$`,
);

const SCRIPT = `
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
    `style-src 'sha256-${hashOf(STYLE)}'`,
    `script-src 'sha256-${hashOf(THEME_SCRIPT)}' 'sha256-${hashOf(SCRIPT)}'`,
    "connect-src 'self'",
    "img-src data:",
  ),
};

const raw = (text: string): Markup => ({ html: text });
const ICON = `data:image/svg+xml,${encodeURIComponent(LOGO_IMAGE)}`;
const HEAD = raw(
  `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="icon" href="${ICON}"><title>Log in · Holdpoint</title><style>${STYLE}</style><script>${THEME_SCRIPT}</script>`,
);

export function loginPage(): string {
  return html`<!doctype html><html lang="en"><head>${HEAD}</head><body><main><header>${raw(LOGO)}Holdpoint</header><h1>Log in</h1><p id="lead">With the link that you were given.</p><form novalidate><label>Your link<input type="text" name="link" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="said"></label><button>Log in</button><p id="said" role="status"></p></form><footer><p>A link works once. Whoever looks after this server makes one for you: <code>holdpoint login-link &lt;you&gt;</code>. If you started the server yourself, it has printed one.</p></footer><noscript><p>This page needs a script to use the link.</p></noscript></main>${raw(`<script>${SCRIPT}</script>`)}</body></html>
`.html;
}
