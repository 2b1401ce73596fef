/**
 * A real Chromium with nothing installed: on Linux the one that comes by npm, unpacked once into a cache of the project's own;
 * elsewhere the Chrome or Edge of the machine. `CHROMIUM_PATH` names another.
 */
import { spawnSync } from "node:child_process";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createBrotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const CHUNK = 1 << 21;
/** It talks to the server under test and to nobody else, and ends when its page does. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

type Unpacked = { readonly folder: string; readonly program: string };
type Extract = (place: string) => NodeJS.WritableStream;

/** Under another name until it is whole: tests run side by side. */
async function unpack(): Promise<Unpacked> {
  const packed = fileURLToPath(new URL("../../node_modules/@sparticuz/chromium/", import.meta.url));
  const { version } = JSON.parse(readFileSync(path.join(packed, "package.json"), "utf8")) as {
    version: string;
  };
  const folder = path.join(CACHE, `chromium-${version}`);
  const program = path.join(folder, "chromium");
  if (existsSync(program)) return { folder, program };
  mkdirSync(folder, { recursive: true });
  const { extract } = createRequire(path.join(packed, "package.json"))("tar-fs") as { extract: Extract };
  const open = (name: string) =>
    createReadStream(path.join(packed, "bin", name)).pipe(createBrotliDecompress({ chunkSize: CHUNK }));
  for (const part of ["fonts", "al2023"])
    await pipeline(open(`${part}.tar.br`), extract(path.join(folder, part)));
  await pipeline(open("swiftshader.tar.br"), extract(folder));
  const own = `${program}.${process.pid}`;
  await pipeline(open("chromium.br"), createWriteStream(own, { mode: 0o755 }));
  renameSync(own, program);
  return { folder, program };
}

/** The fonts that it brings, where they were unpacked: without any it dies at the first text in a font of the system. */
function fontsIn(folder: string): string {
  const place = path.join(folder, "fontconfig");
  const lines = [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    `<fontconfig><dir>${path.join(folder, "fonts")}</dir><cachedir>${place}</cachedir></fontconfig>`,
  ];
  mkdirSync(place, { recursive: true });
  const own = path.join(place, `fonts.conf.${process.pid}`);
  writeFileSync(own, lines.join("\n"));
  renameSync(own, path.join(place, "fonts.conf"));
  return place;
}

function surroundings({ folder, program }: Unpacked): { readonly [name: string]: string } {
  const own = { ...process.env, FONTCONFIG_PATH: fontsIn(folder) } as { [name: string]: string };
  const isComplete = spawnSync(program, ["--version"], { env: own }).status === 0;
  if (isComplete) return own;
  const libraries = [path.join(folder, "al2023", "lib"), process.env["LD_LIBRARY_PATH"]];
  return { ...own, LD_LIBRARY_PATH: libraries.filter(Boolean).join(":") };
}

export async function launchChromium(): Promise<Browser> {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined) return chromium.launch({ executablePath: named, args: ARGS });
  if (process.platform !== "linux")
    return chromium.launch({ channel: "chrome" }).catch(() => chromium.launch({ channel: "msedge" }));
  const unpacked = await unpack();
  return chromium.launch({ executablePath: unpacked.program, args: ARGS, env: surroundings(unpacked) });
}
