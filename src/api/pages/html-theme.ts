/**
 * HTML for pages without the dashboard: escaped markup, the style of the reference, colours and logo.
 * - Every value is text until it is marked as markup.
 * - A test keeps the colours equal to `dashboard/src/style/tokens.css`. Nothing is loaded from other servers.
 */

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
export const COLOURS = `
:root { ${written("light", LIGHT_COLOURS)} }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { ${written("dark", DARK_COLOURS)} } }
:root[data-theme="dark"] { ${written("dark", DARK_COLOURS)} }
`;

/** Runs in the page's head, before anything is drawn. */
export const THEME_SCRIPT = `
const theme = localStorage.getItem("holdpoint.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
`;

const POSTS = `<rect class="post" x="3" y="4" width="6" height="24" rx="2"/><rect class="post" x="23" y="4" width="6" height="24" rx="2"/><circle class="point" cx="16" cy="16" r="4.5"/>`;

/** The logo, as the dashboard draws it: a point held between two posts. */
export const LOGO = `<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">${POSTS}</svg>`;

/** The logo as a standalone image, for the browser tab. */
export const LOGO_IMAGE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>.post{fill:${LIGHT_COLOURS.ink}}.point{fill:${LIGHT_COLOURS.hold}}@media(prefers-color-scheme:dark){.post{fill:${DARK_COLOURS.ink}}.point{fill:${DARK_COLOURS.hold}}}</style>${POSTS}</svg>`;
