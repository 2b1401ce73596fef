import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const at = (place: string): string => fileURLToPath(new URL(place, import.meta.url));

/** `npm run dashboard` serves the sources and asks a server on the usual port for everything else. */
const SERVER = "http://127.0.0.1:8000";

const compressed = promisify(brotliCompress);

/** Beside each text a second file, as browsers want it: the server compresses nothing. Fonts are compressed already. */
const brotli: Plugin = {
  name: "brotli",
  apply: "build",
  async writeBundle({ dir = "." }, bundle) {
    const texts = Object.keys(bundle).filter((name) => /^assets\/.*\.(js|css|svg)$|^index\.html$/.test(name));
    const files = texts.map((name) => path.join(dir, name));
    await Promise.all(
      files.map(async (file) => writeFile(`${file}.br`, await compressed(await readFile(file)))),
    );
  },
};

const within = (...places: readonly string[]): RegExp => new RegExp(`/dashboard/src/(?:${places.join("|")})`);

/** What several pages share and the others do not need. */
const APART = [
  {
    name: "values",
    test: within("ui/values/", "ui/guarded", "format/(?:diff-lines|folded|quoted|value-form|written-in)"),
  },
  {
    name: "approvals",
    test: within("pages/approvals/(?!example|first-run|inbox-row)", "format/arguments-line"),
  },
  { name: "rows", test: within("pages/approvals/(?:example|first-run|inbox-row)", "ui/snippet") },
  { name: "records", test: within("pages/(?:actions|journal|workflows)/", "ui/json-view") },
  { name: "tabs", test: within("ui/tabs") },
  {
    name: "office",
    test: within("pages/agents/", "ui/(?:own-sessions|turn-switch)", "format/(?:money-input|rights|spans)"),
  },
];
/** Of one page, or of a part that is loaded when it is opened. */
const OF_ONE = within(
  "ui/(?:check-list|long-list|schema-form|search-box)",
  "format/(?:box-text|edits|line-diff|schema-form|schema-parts|typed-json)",
);
const SHARED = [/\/src\/(?:client|core)\//, within("(?:api|format|live|shell|style|ui)/")];

const isOfFrame = (id: string): boolean =>
  SHARED.some((one) => one.test(id)) &&
  ![OF_ONE, ...APART.map(({ test }) => test)].some((one) => one.test(id));

/**
 * Which modules travel in one file: left alone, whatever two pages share would be a file of its own, and a page would ask for
 * thirty. A group takes along what its modules import, so what everybody needs comes first.
 */
const GROUPS = [
  {
    ...{ name: "libraries", priority: 3 },
    test: /\/node_modules\/(?:react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual)[^/]+)\//,
  },
  { name: "frame", priority: 2, test: isOfFrame },
  ...APART.map((group, at) => ({ ...group, priority: 1 - at / APART.length, minShareCount: 2 })),
];

export default defineConfig({
  root: at("."),
  plugins: [react(), tailwindcss(), brotli],
  resolve: { alias: { "holdpoint/client": at("../src/client/client.ts") } },
  build: {
    outDir: at("dist"),
    emptyOutDir: true,
    target: "es2023",
    // Nothing stands in the page itself: its content policy allows only files of the server's own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      // To compress takes longer than to build, and need not be said each time.
      checks: { bundlerTimings: false },
      output: { codeSplitting: { groups: GROUPS } },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "^/(api|login|docs|metrics|(approvals|actions)/[^/]+/plain)": {
        target: SERVER,
        changeOrigin: true,
        headers: { origin: SERVER },
      },
    },
  },
});
