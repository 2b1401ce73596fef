// The workers of the compose file and of the manifests: their lines, their probes, and how they end.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import type { Values } from "../../src/cli/shell/command.ts";
import { parseLine } from "../../src/cli/shell/parse.ts";

import { makePlace, ROOT } from "../e2e/program.ts";
import { at, documents, fields, list } from "./files.ts";
import { freePort } from "./free-port.ts";

const [compose = {}] = documents("deploy/compose.yaml");
const [deployment = {}] = documents("deploy/kubernetes/worker.yaml");
const service = fields(compose, "services", "worker");
const container = fields(deployment, "spec", "template", "spec", "containers", 0);

function valuesOf(line: readonly unknown[]): Values {
  const parsed = parseLine(line.map(String), COMMANDS);
  assert.ok(parsed.kind === "run" && parsed.command.name === "worker");
  return parsed.values;
}
const inCompose = valuesOf(list(service, "command"));
const inKubernetes = valuesOf(list(container, "args"));
const port = (values: Values) => Number(values.get("health-port")?.[0]);
const paths = ["startupProbe", "livenessProbe", "readinessProbe"].map((probe) =>
  String(at(container, probe, "httpGet", "path")),
);

describe("the workers", () => {
  test("run the definitions that are mounted or copied, and are asked where they answer", () => {
    const url = String(list(service, "healthcheck", "test").at(-1));
    assert.equal(Number(new URL(url).port), port(inCompose));
    assert.equal(at(container, "ports", 0, "containerPort"), port(inKubernetes));
    const [folder = ""] = list(service, "volumes").flatMap(
      (one) => /^\.\/definitions:([^:]+)/.exec(String(one))?.[1] ?? [],
    );
    for (const values of [inCompose, inKubernetes])
      assert.deepEqual(values.get("definitions"), [`${folder}/main.ts`]);
  });

  test("are asked by the kubelet at the pod's address", () => {
    assert.deepEqual(inKubernetes.get("host"), ["0.0.0.0"]);
  });

  test("answer every probe with 200, count for nobody unknown, and end with 0 on SIGTERM", async (t) => {
    const place = makePlace();
    t.after(place.remove);
    const free = await freePort();
    const definitions = join(ROOT, "deploy/definitions/main.ts");
    const flags = ["--definitions", definitions, "--health-port", String(free)];
    const line = [join(ROOT, "bin/holdpoint.mjs"), "worker", ...flags, "--data", join(place.folder, "data")];
    const env = { ...place.env, HOLDPOINT_DATABASE: "", DATABASE_URL: "" };
    const child = spawn(process.execPath, line, { env, cwd: place.folder, stdio: "pipe" });
    t.after(() => child.kill("SIGKILL"));
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
    const url = `http://127.0.0.1:${free}`;
    const check = () =>
      spawnSync(process.execPath, [join(ROOT, "deploy/image/ready.mjs"), `${url}/api/ready`]);
    while (check().status !== 0) {
      await new Promise<void>((resolve) => setTimeout(resolve, 20));
      assert.equal(child.exitCode, null, said);
    }
    for (const path of paths) assert.equal((await fetch(`${url}${path}`)).status, 200, path);
    assert.equal((await fetch(`${url}/metrics`)).status, 401);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null], said);
  });
});
