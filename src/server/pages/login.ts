/** The page behind a login link. What follows the # never leaves the browser but in the one request that uses it. */
import { createHash } from "node:crypto";
import { contentPolicy } from "../guards/headers.ts";
import { html, type Markup } from "../reference/html.ts";
import { STYLE } from "../reference/style.ts";

const OWN_STYLE = `${STYLE}
.card { max-width: 26rem; margin: 16vh auto 0; padding: 2rem; border: 1px solid var(--line); border-radius: 12px; }
.card h1 { font-size: 1.4rem; } .card p { color: var(--soft); }
button { font: inherit; font-weight: 600; padding: 0.55rem 1.3rem; border: 0; border-radius: 8px; background: var(--accent); color: var(--ground); cursor: pointer; }
input { font: inherit; width: 100%; padding: 0.5rem 0.7rem; margin-bottom: 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--ground); color: var(--ink); }
button:disabled { opacity: 0.5; cursor: default; }
`;

const SCRIPT = `
const button = document.querySelector("button");
const said = document.querySelector("[role=status]");
const field = document.querySelector("label");
const opened = location.hash.slice(1);
const to = new URLSearchParams(location.search).get("to") ?? "";
const next = /^\\/(approvals|actions)\\/[A-Za-z0-9_]{1,100}$/.test(to) ? to : "/docs";
history.replaceState(null, "", location.pathname + location.search);
field.hidden = opened !== "";
button.addEventListener("click", async () => {
  const link = opened === "" ? field.querySelector("input").value.trim().replace(/^.*#/, "") : opened;
  if (link === "") { said.textContent = "There is no link here: paste the one you were given."; return; }
  button.disabled = true;
  const answer = await fetch("/api/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ link }) });
  const body = await answer.json();
  said.textContent = answer.ok ? "Logged in as " + body.person + "." : body.detail + " " + body.next;
  if (answer.ok) location.replace(next);
  else button.disabled = opened !== "";
});
`;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");

export const PAGE_HEADERS = {
  "content-security-policy": contentPolicy(
    `style-src 'sha256-${hashOf(OWN_STYLE)}'`,
    `script-src 'sha256-${hashOf(SCRIPT)}'`,
    "connect-src 'self'",
  ),
};

export function loginPage(): string {
  const style: Markup = { html: `<style>${OWN_STYLE}</style>` };
  const script: Markup = { html: `<script>${SCRIPT}</script>` };
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Holdpoint: log in</title>${style}</head><body><main class="card"><h1>Log in to Holdpoint</h1><p>With a link that works once. Whoever looks after this server makes one for you: <code>holdpoint login-link &lt;you&gt;</code>.</p><label>Your link<input type="password" autocomplete="off" spellcheck="false"></label><button type="button">Log in</button><p role="status"></p><noscript><p>This page needs a script to use the link.</p></noscript></main>${script}</body></html>
`.html;
}
