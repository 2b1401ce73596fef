import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { readSettings } from "../../src/api/settings.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { parseLine } from "../../src/cli/shell/parse.ts";
import { ROOT, readRoot } from "../docs/markdown.ts";
import { last, pairs, words } from "./dockerfile.ts";
import {
  at,
  committed,
  documents,
  drainSeconds,
  fields,
  list,
  runtimeStage,
  seconds,
  variables,
} from "./files.ts";

const [compose = {}] = documents("deploy/compose.yaml");
const services = fields(compose, "services");
const nodes = ["server", "worker"] as const;
const image = pairs(runtimeStage(), "ENV");

describe("the compose file", () => {
  test("has a database, a server and two workers", () => {
    assert.deepEqual(Object.keys(services), ["postgres", ...nodes]);
    assert.match(String(at(services, "postgres", "image")), /^postgres:17\b/);
    assert.equal(at(services, "worker", "deploy", "replicas"), 2);
  });

  test("builds the image from the repository, in the version of the package", () => {
    const { version } = JSON.parse(readRoot("package.json")) as { readonly version: string };
    for (const node of nodes) {
      assert.equal(at(services, node, "image"), `holdpoint:${version}`);
      const build = fields(services, node, "build");
      assert.equal(path.join("deploy", String(build["context"])), ".");
      assert.ok(committed().includes(String(build["dockerfile"])));
    }
  });

  test("starts nodes as the image does, and only adds the file that Node reads the password from", () => {
    const [node, ...rest] = words(last(runtimeStage(), "ENTRYPOINT"));
    for (const name of nodes) {
      const [given, file = "", ...others] = list(services, name, "entrypoint").map(String);
      assert.deepEqual([given, ...others], [node, ...rest]);
      const [, secret = ""] = /^--env-file=\/run\/secrets\/(.+)$/.exec(file) ?? [];
      assert.ok(list(services, name, "secrets").includes(secret), file);
    }
    const line = parseLine(list(services, "server", "command").map(String), COMMANDS);
    assert.equal(line.kind === "run" && line.command.name, "serve");
  });

  test("sets only variables that exist, to values that the server takes once the shell's defaults are in", () => {
    const plain = (value: unknown) => String(value).replace(/^\$\{\w+:-(.*)\}$/, "$1");
    for (const name of nodes) {
      const given = fields(services, name, "environment");
      assert.deepEqual(
        Object.keys(given).filter((variable) => !variables().has(variable)),
        [],
      );
      const env = {
        ...image,
        ...Object.fromEntries(Object.entries(given).map(([key, value]) => [key, plain(value)])),
      };
      const settings = readSettings({
        flags: new Map(),
        environment: (variable) => env[variable as keyof typeof env],
      });
      assert.match(settings.database ?? "", /^postgres:\/\/holdpoint@postgres:5432\/holdpoint$/);
    }
  });

  test("is reached from this machine only, and its database from nowhere but its nodes", () => {
    assert.deepEqual(at(services, "server", "ports"), [`127.0.0.1:8000:${image["HOLDPOINT_PORT"]}`]);
    for (const name of ["postgres", "worker"]) assert.equal(at(services, name, "ports"), undefined);
    assert.deepEqual(at(services, "postgres", "networks"), ["database"]);
    assert.equal(at(compose, "networks", "database", "internal"), true);
    for (const name of nodes) assert.ok(list(services, name, "networks").includes("database"));
  });

  test("waits for a database that answers over TCP: the socket answers before the role is there", () => {
    const check = list(services, "postgres", "healthcheck", "test").map(String);
    assert.deepEqual(check.slice(0, 3), ["CMD", "pg_isready", "--host=127.0.0.1"]);
    for (const name of nodes)
      assert.equal(at(services, name, "depends_on", "postgres", "condition"), "service_healthy");
  });

  test("starts nodes again, and gives them longer to stop than they take", () => {
    for (const name of Object.keys(services)) assert.equal(at(services, name, "restart"), "unless-stopped");
    for (const name of nodes) {
      const said = fields(services, name, "environment");
      const drain = drainSeconds(said["HOLDPOINT_GRACE_SECONDS"], said["HOLDPOINT_DRAIN_SECONDS"]);
      assert.ok(drain >= 30 && seconds(at(services, name, "stop_grace_period")) >= drain + 10);
    }
  });

  test("lets nodes write to their volumes only, without a capability", () => {
    for (const name of nodes) {
      assert.equal(at(services, name, "read_only"), true);
      assert.deepEqual(at(services, name, "cap_drop"), ["ALL"]);
      assert.deepEqual(at(services, name, "security_opt"), ["no-new-privileges:true"]);
      assert.equal(at(services, name, "user"), undefined, "the image's own");
    }
  });

  test("gives every node the same key, on a volume that is not the journal's", () => {
    const folder = path.posix.dirname(image["HOLDPOINT_KEY_FILE"] ?? "");
    for (const name of nodes) assert.ok(list(services, name, "volumes").includes(`keys:${folder}`));
    assert.ok("keys" in fields(compose, "volumes"));
  });

  test("mounts only files that are there, and volumes that it declares", () => {
    const mounted = Object.values(services).flatMap((service) => list(service, "volumes").map(String));
    const isThere = (source: string) =>
      source.startsWith("./")
        ? existsSync(path.join(ROOT, "deploy", source))
        : source in fields(compose, "volumes");
    assert.deepEqual(
      mounted.filter((volume) => !isThere(volume.split(":")[0] ?? "")),
      [],
    );
  });

  test("names only secrets and networks that it declares", () => {
    for (const group of ["secrets", "networks"]) {
      const used = Object.values(services).flatMap((service) => list(service, group).map(String));
      assert.deepEqual(new Set(used), new Set(Object.keys(fields(compose, group))));
    }
  });
});

describe("secrets of the compose file", () => {
  test("come from files that are never committed", () => {
    for (const { file } of Object.values(fields(compose, "secrets")) as { file: string }[]) {
      const place = path.posix.join("deploy", file);
      assert.ok(!committed().includes(place));
      assert.equal(path.posix.dirname(place), "deploy/secrets");
    }
    assert.equal(readRoot("deploy/secrets/.gitignore"), "*\n!.gitignore\n");
  });

  test("stand nowhere in it: no address has a password, and what is called one names a file", () => {
    const text = readRoot("deploy/compose.yaml");
    assert.doesNotMatch(text, /:\/\/[^/\s:@]+:[^/\s@]+@/);
    const named = Object.values(services).flatMap((service) =>
      Object.entries(fields(service, "environment")),
    );
    const secret = named.filter(([name]) => /PASSWORD|SECRET|TOKEN|API_KEY/.test(name));
    assert.deepEqual(secret, [["POSTGRES_PASSWORD_FILE", "/run/secrets/postgres-password"]]);
  });
});
