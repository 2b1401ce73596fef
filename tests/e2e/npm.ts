/** npm as a user runs it, on the package as it would be published. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { type Place, ROOT } from "./program.ts";

type Packed = readonly [{ readonly filename: string; readonly files: readonly { readonly path: string }[] }];

/** What npm and the test runner told this process is not for another one; the Node that runs it is. */
function environment(place: Place): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _inTest, ...inherited } = place.env;
  const env = Object.fromEntries(
    Object.entries(inherited).filter(
      ([name]) => !/^npm_(?!config_(registry|cache|cafile|userconfig)$)/i.test(name),
    ),
  );
  return { ...env, PATH: `${path.dirname(process.execPath)}${path.delimiter}${env["PATH"] ?? ""}` };
}

export function npm(place: Place, cwd: string, ...args: readonly string[]): string {
  const env = environment(place);
  const done = spawnSync("npm", [...args], { cwd, env, encoding: "utf8", timeout: 180_000 });
  assert.equal(done.status, 0, `npm ${args.join(" ")}: ${done.stdout} ${done.stderr}`);
  return done.stdout;
}

export type Tarball = { readonly file: string; readonly files: readonly string[] };

export function pack(place: Place): Tarball {
  const said = npm(place, ROOT, "pack", "--ignore-scripts", "--json", "--pack-destination", place.folder);
  const [packed] = JSON.parse(said) as Packed;
  return { file: path.join(place.folder, packed.filename), files: packed.files.map((one) => one.path) };
}

export function install(place: Place, project: string, { file }: Tarball): void {
  npm(place, project, "install", "--no-audit", "--no-fund", "--prefer-offline", file);
}
