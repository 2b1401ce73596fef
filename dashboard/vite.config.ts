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
    const texts = Object.keys(bundle).filter((name) => /^assets\/.*\.(js|css|svg)$/.test(name));
    const files = texts.map((name) => path.join(dir, name));
    await Promise.all(
      files.map(async (file) => writeFile(`${file}.br`, await compressed(await readFile(file)))),
    );
  },
};

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
    // To compress takes longer than to build, and need not be said each time.
    rolldownOptions: { checks: { bundlerTimings: false } },
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
