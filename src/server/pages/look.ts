/** The colours of the desk for pages that stand without it; a test keeps them equal to `dashboard/src/style/tokens.css`. */
type Colours = { readonly [name: string]: string };

export const LIGHT = {
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

export const DARK = {
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
} as const satisfies { readonly [name in keyof typeof LIGHT]: string };

const written = (scheme: string, colours: Colours): string =>
  `color-scheme: ${scheme}; ${Object.entries(colours)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(" ")}`;

/** As the desk was last told, else as the system is. */
export const COLOURS = `
:root { ${written("light", LIGHT)} }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { ${written("dark", DARK)} } }
:root[data-theme="dark"] { ${written("dark", DARK)} }
`;

/** In the page's head, before anything is drawn. */
export const THEME_SCRIPT = `
const theme = localStorage.getItem("holdpoint.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
`;

const POSTS = `<rect class="post" x="3" y="4" width="6" height="24" rx="2"/><rect class="post" x="23" y="4" width="6" height="24" rx="2"/><circle class="point" cx="16" cy="16" r="4.5"/>`;

/** The mark, as the desk draws it: a point that is held between two posts. */
export const MARK = `<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">${POSTS}</svg>`;

/** The same as an image of its own, for the tab. */
export const MARK_IMAGE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>.post{fill:${LIGHT.ink}}.point{fill:${LIGHT.hold}}@media(prefers-color-scheme:dark){.post{fill:${DARK.ink}}.point{fill:${DARK.hold}}}</style>${POSTS}</svg>`;
