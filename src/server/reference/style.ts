/** The look of the reference page, light and dark. No font, image or script of anybody else's. */
export const STYLE = `
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
