import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const at = (place: string): string => fileURLToPath(new URL(place, import.meta.url));

/** `npm run dashboard` serves the sources and asks a server on the usual port for everything else. */
const SERVER = "http://127.0.0.1:8000";

export default defineConfig({
  root: at("."),
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "holdpoint/client": at("../src/client/client.ts") } },
  build: {
    outDir: at("dist"),
    emptyOutDir: true,
    target: "es2023",
    // Nothing stands in the page itself: its content policy allows only files of the server's own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "^/(api|login|docs|metrics)": { target: SERVER, changeOrigin: true, headers: { origin: SERVER } },
    },
  },
});
