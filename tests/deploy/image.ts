/** The image's stages carried out by hand in a folder: the same files in the same places below another root. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { ROOT } from "../docs/markdown.ts";
import { npm, pack } from "../e2e/npm.ts";
import { makePlace, type Place } from "../e2e/program.ts";
import { all, last, pairs, words } from "./dockerfile.ts";
import { runtimeStage, stages } from "./files.ts";

type Locked = { readonly version: string; readonly optional?: boolean };

export type Image = {
  readonly root: string;
  /** What is installed in it, by place: `node_modules/pg`. */
  readonly packages: ReadonlyMap<string, Locked>;
  /** A path of the image, below the root that stands for `/`. */
  placed(text: string): string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  remove(): void;
};

/** With nothing in npm's cache and no network: the lock file alone has to say what there is. */
function resolve(place: Place, app: string, tarball: string): ReadonlyMap<string, Locked> {
  const install = stages().find(({ name }) => name === "install");
  assert.ok(install !== undefined);
  for (const { flags, text } of all(install, "COPY"))
    for (const source of text.split(/\s+/).slice(0, -1))
      cpSync(flags.has("from") ? tarball : join(ROOT, source), join(app, basename(source)));
  const [command = "", ...args] = last(install, "RUN").text.split(" ");
  assert.equal(command, "npm");
  const emptyCache = { ...place, env: { ...place.env, npm_config_cache: join(place.folder, "cache") } };
  npm(emptyCache, app, ...args, "--package-lock-only", "--offline");
  const lock = JSON.parse(readFileSync(join(app, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return new Map(
    Object.entries(lock.packages).filter(([where, { optional }]) => where !== "" && optional !== true),
  );
}

/** Copies, not links: what is not in the image cannot be found from it. */
function fill(app: string, where: string, { version }: Locked): void {
  const from = join(ROOT, where);
  cpSync(from, join(app, where), {
    recursive: true,
    filter: (file) => !file.slice(from.length).includes("node_modules"),
  });
  const found = JSON.parse(readFileSync(join(app, where, "package.json"), "utf8")) as Locked;
  assert.equal(found.version, version, where);
}

function unpack(app: string, tarball: string): void {
  const target = join(app, "node_modules/holdpoint");
  mkdirSync(target, { recursive: true });
  const done = spawnSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", target], {
    encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
}

/** The last stage has what it copies, and nothing that lay beside it. */
function finish(built: string, app: string): void {
  mkdirSync(app);
  for (const { flags, text } of all(runtimeStage(), "COPY")) {
    const [source = ""] = text.split(/\s+/);
    const from = flags.has("from") ? join(built, source.replace(/^\/app\//, "")) : join(ROOT, source);
    assert.ok(existsSync(from), source);
    cpSync(from, join(app, basename(source)), { recursive: true });
  }
}

export function buildImage(): Image {
  const place = makePlace();
  const root = place.folder;
  const built = join(root, "install");
  mkdirSync(built);
  const { file } = pack(place);
  const packages = resolve(place, built, file);
  for (const [where, locked] of packages)
    if (where === "node_modules/holdpoint") unpack(built, file);
    else fill(built, where, locked);
  finish(built, join(root, "app"));
  rmSync(built, { recursive: true });
  const runtime = runtimeStage();
  const placed = (text: string) => text.replaceAll(/(?<![\w/.])\/(?=(?:app|data|keys)\b)/g, `${root}/`);
  for (const volume of words(last(runtime, "VOLUME"))) mkdirSync(placed(volume), { mode: 0o700 });
  const health = last(runtime, "HEALTHCHECK").text.replace(/^CMD /, "");
  const ours = (line: readonly string[]) =>
    line.map((word, at) => (at === 0 && word === "node" ? process.execPath : placed(word)));
  return {
    root,
    packages,
    placed,
    env: Object.fromEntries(
      Object.entries(pairs(runtime, "ENV")).map(([name, value]) => [name, placed(value)]),
    ),
    command: ours([...words(last(runtime, "ENTRYPOINT")), ...words(last(runtime, "CMD"))]),
    healthCheck: ours(JSON.parse(health) as string[]),
    remove: place.remove,
  };
}
