// Bundles the package: `node scripts/bundle.mjs <folder>`. Node takes longer to find and load 166 small modules than to run
// them, so an entry point is a few chunks. What loads at its first use (`import()`, and `partLoader` of
// src/kernel/load-part.ts) has chunks of its own.
import fs from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import { filesBelow } from "./files.mjs";

const ENTRIES = [
  ...["src/index.ts", "src/admin.ts", "src/verify.ts", "src/postgres.ts", "src/testing/testing.ts"],
  "src/cli/main.ts",
];
// Each is one file that needs no other: a page takes the client as it is, and a thread checks a database file.
const ALONE = ["src/client/client.ts", "src/stores/sqlite/quick-check-worker.ts"];
// All modules that one of these imports statically are one chunk, without those of the chunk before it.
const CHUNKS = { holdpoint: "src/index.ts", postgres: "src/postgres.ts" };

const PART = /\bload<typeof import\("([^"]+)"\)>/g;
const OWN_URL = /\bOWN_URL\("([^"]+)"\)/g;

const into = process.argv[2];
const sources = filesBelow("src").filter((file) => /(?<!\.test)\.ts$/.test(file));

/** Where the module would be if every module had a file: `src/` is `dist/`, and `examples/demos/` is `dist/demos/`. */
const home = (file) =>
  path
    .relative(".", file)
    .replaceAll(path.sep, "/")
    .replace(/^(src|examples)\//, "")
    .replace(/\.ts$/, "");

function partsIn(file) {
  const text = fs.readFileSync(file, "utf8");
  return [...text.matchAll(PART)].map(([, part]) => path.join(path.dirname(file), part));
}

// A module finds files and parts by their path from itself, and it keeps that path in whichever chunk it is.
const ownUrls = {
  name: "own-urls",
  transform: (code, id) =>
    code.includes("import.meta.url")
      ? { code: code.replaceAll("import.meta.url", `OWN_URL(${JSON.stringify(home(id))})`), map: null }
      : null,
};

function withUrls({ code, fileName }) {
  return code.replace(OWN_URL, (_, own) => {
    const from = path.posix.relative(path.posix.dirname(fileName), `${own}.js`);
    return `new URL(${JSON.stringify(from)}, import.meta.url).href`;
  });
}

/** The modules that a module imports statically, with itself. */
function closure(id, context, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of context.getModuleInfo(id)?.importedIds ?? []) closure(imported, context, found);
  return found;
}

function chunkNamer() {
  let chunks;
  return (id, context) => {
    chunks ??= Object.entries(CHUNKS).map(([name, entry]) => [name, closure(path.resolve(entry), context)]);
    return chunks.find(([, modules]) => modules.has(id))?.[0] ?? null;
  };
}

async function bundle(entries, codeSplitting) {
  const input = Object.fromEntries(entries.map((file) => [home(file), path.resolve(file)]));
  const external = (id) => !id.startsWith(".") && !path.isAbsolute(id);
  const built = await rolldown({ input, platform: "node", external, plugins: [ownUrls] });
  const { output } = await built.generate({
    format: "esm",
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting,
  });
  await built.close();
  for (const file of output) write(file);
}

function write(file) {
  const to = path.join(into, file.fileName);
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.writeFileSync(to, file.type === "chunk" ? withUrls(file) : file.source);
}

const parts = [...new Set(sources.flatMap(partsIn))];
await bundle([...ENTRIES, ...parts], { groups: [{ debugName: "entries", name: chunkNamer() }] });
for (const file of ALONE) await bundle([file], false);
